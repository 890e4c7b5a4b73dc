"""A blind, labelled test set for secret redaction (set D).

Written from the product's requirement alone, without sight of the engine.  A frame is one shape
of text with slots: «name» is harmless filler, «!name» a secret that must not survive, and
«name:1» repeats the value it had before in the same text, as names of people, hosts and services
always do.  A frame's line that ends in ¬ goes on in the next line.  All values are random parts
in published formats: none is anybody's key.

    positives(seed) -> [(class, text, secrets)]    every secret must be gone from the text
    negatives(seed) -> [(class, text)]             the text must come out unchanged

A secret of 16 characters or more is listed twice: whole, and its last half, since half a key left
standing is a leak too.  Of a key of several lines every line is listed.
"""

from __future__ import annotations

import base64
import json
import re
import string
from collections import Counter
from collections.abc import Callable
from random import Random

PER_POSITIVE = 2
PER_NEGATIVE = 3

_LOWER = string.ascii_lowercase
_UPPER = string.ascii_uppercase
_ALNUM = string.ascii_letters + string.digits
_ALPHABETS = {
    "d": string.digits,
    "1": "123456789",
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "l": _LOWER + string.digits,
    "U": _UPPER + string.digits,
    "a": _ALNUM,
    "b": _ALNUM + "-_",
    "B": _ALNUM + "+/",
    "3": _UPPER + "234567",
}
_RUN = re.compile(r"\{(\w):(\d+)\}")
_SLOT = re.compile(r"«(!?)(\w+)(?::(\w+))?»")

# {x:n} stands for n characters of the alphabet x.
SPECS = {
    # -- provider credentials
    "aws_id": "AKIA{3:16}",
    "aws_tmp_id": "ASIA{3:16}",
    "aws_secret": "{B:19}k{B:20}",
    "aws_session": "IQoJb3JpZ2luX2Vj{B:240}==",
    "ghp": "ghp_{a:36}",
    "gho": "gho_{a:36}",
    "ghs": "ghs_{a:36}",
    "ghpat": "github_pat_11{U:20}_{a:59}",
    "glpat": "glpat-{a:20}",
    "gldt": "gldt-{a:20}",
    "glrt": "glrt-{a:20}",
    "glcbt": "glcbt-64_{a:20}",
    "openai": "sk-proj-{b:74}T3BlbkFJ{b:73}A",
    "openai_old": "sk-{a:20}T3BlbkFJ{a:20}",
    "openai_svc": "sk-svcacct-{b:74}T3BlbkFJ{b:73}A",
    "anthropic": "sk-ant-api03-{b:93}AA",
    "anthropic_oat": "sk-ant-oat01-{b:93}AA",
    "google": "AIzaSy{b:32}w",
    "gocspx": "GOCSPX-{a:28}",
    "ya29": "ya29.a0A{b:150}0{d:3}",
    "g_refresh": "1//0{a:2}{b:96}w",
    "xoxb": "xoxb-{d:12}-{d:13}-{a:24}",
    "xoxp": "xoxp-{d:12}-{d:12}-{d:13}-{h:32}",
    "xapp": "xapp-1-A0{U:9}-{d:13}-{h:64}",
    "slack_hook": "{a:24}",
    "stripe": "sk_live_51{a:97}",
    "stripe_test": "sk_test_51{a:97}",
    "stripe_rk": "rk_live_51{a:97}",
    "whsec": "whsec_{a:32}",
    "twilio": "{h:32}",
    "sendgrid": "SG.{a:22}.{a:43}",
    "mailgun": "{h:32}-{h:8}-{h:8}",
    "mailchimp": "{h:32}-us{d:2}",
    "npm": "npm_{a:36}",
    "pypi": "pypi-AgEIcHlwaS5vcmc{a:160}",
    "rubygems": "rubygems_{h:48}",
    "nuget": "oy2{l:43}",
    "dckr": "dckr_pat_{a:27}",
    "dop": "dop_v1_{h:64}",
    "heroku": "HRKU-AA{a:58}",
    "cf": "{a:40}",
    "vercel": "{a:24}",
    "netlify": "nfp_{a:36}",
    "sbp": "sbp_{h:40}",
    "sb_secret": "sb_secret_{a:22}_{a:8}",
    "hf": "hf_{a:34}",
    "r8": "r8_{a:37}",
    "groq": "gsk_{a:52}",
    "pplx": "pplx-{a:48}",
    "xai": "xai-{a:80}",
    "openrouter": "sk-or-v1-{h:64}",
    "deepseek": "sk-{h:32}",
    "mistral": "{a:32}",
    "cohere": "{a:40}",
    "eleven": "sk_{h:48}",
    "pinecone": "pcsk_{a:6}_{a:63}",
    "langsmith": "lsv2_pt_{h:32}_{h:10}",
    "tavily": "tvly-dev-{a:32}",
    "datadog": "{h:32}",
    "datadog_app": "{h:40}",
    "nrak": "NRAK-{U:27}",
    "sntryu": "sntryu_{h:64}",
    "glsa": "glsa_{a:32}_{h:8}",
    "linear": "lin_api_{a:40}",
    "ntn": "ntn_{d:11}{a:35}",
    "figd": "figd_{a:40}",
    "airtable": "pat{a:14}.{h:64}",
    "atlassian": "ATATT3xFfGF0{b:176}={H:8}",
    "bitbucket": "ATBB{a:24}{H:8}",
    "discord": "MT{a:24}.G{a:5}.{b:37}s",
    "discord_hook": "{b:67}k",
    "telegram": "{d:10}:AA{b:32}s",
    "shpat": "shpat_{h:32}",
    "square": "EAAA{b:59}Z",
    "vault": "hvs.CAESI{a:90}",
    "tfc": "{a:14}.atlasv1.{a:67}",
    "pulumi": "pul-{h:40}",
    "databricks": "dapi{h:32}",
    "azure_key": "{B:86}==",
    "azure_client": "{a:3}8Q~{a:34}",
    "azure_devops": "{l:52}",
    "azure_openai": "{h:32}",
    "algolia": "{h:32}",
    "okta": "00{a:40}",
    "auth0": "{b:63}A",
    "resend": "re_{a:8}_{a:24}",
    "pscale": "pscale_pw_{a:43}",
    "neon": "npg_{a:12}",
    "doppler": "dp.st.prd.{a:43}",
    "render": "rnd_{a:28}",
    "circleci": "CCIPAT_{a:22}_{h:40}",
    "sqp": "sqp_{h:40}",
    "phx": "phx_{a:43}",
    "tskey": "tskey-auth-k{a:11}CNTRL-{a:32}",
    "crates": "cio{a:32}",
    "meta": "EAAG{a:170}ZD",
    "age": "AGE-SECRET-KEY-1{U:58}",
    "jenkins": "11{h:32}",
    "artifactory": "AKCp8{a:68}",
    "wg": "{B:42}s=",
    "hubspot": "pat-na1-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}",
    "hex32": "{h:32}",
    "hex64": "{h:64}",
    "b64_32": "{B:43}=",
    "tok40": "{a:40}",
    "tok24": "{a:24}",
    "opaque": "{b:63}Q",
    "django": "django-insecure-{l:12}!{l:9}@{l:10}^{l:11}",
    "pwraw": "{a:4}{d:1}@{a:4}#{a:2}{d:2}",
    # -- harmless
    "sha7": "{h:7}",
    "sha40": "{h:40}",
    "sha256": "{h:64}",
    "md5": "{h:32}",
    "cid": "{h:12}",
    "uuid": "{h:8}-{h:4}-4{h:3}-a{h:3}-{h:12}",
    "sri512": "sha512-{B:86}==",
    "goh1": "h1:{B:43}=",
    "ip": "10.{d:2}.1{d:1}.{d:2}",
    "acct": "4{d:11}",
    "n": "{d:2}",
    "n3": "2{d:2}",
    "n5": "1{d:4}",
    "ms": "{d:2}.{d:1}",
    "ver": "{d:1}.{d:2}.{d:1}",
    "day": "2026-0{1:1}-1{d:1}",
    "clock": "1{d:1}:2{d:1}:4{d:1}",
    "sub": "{l:6}",
    "pod": "{l:9}-{l:5}",
    "b64pub": "{B:43}",
    "traceid": "{h:32}",
    "spanid": "{h:16}",
    "epoch": "17{d:8}",
    "etag": "{h:32}",
    "acsid": "AC{h:32}",
    "vpc": "vpc-0{h:16}",
    "inst": "i-0{h:16}",
    "unit": "{d:3}",
    "amzid": "{B:75}=",
    "rsapub": "{B:343}x",
    "slack_t": "T0{U:9}",
    "slack_b": "B0{U:9}",
    "agepub": "age1{l:58}",
    "x5t": "{b:27}",
    "eq": "===",
    "privnote": "my account is DE{d:20}, the card ends in {d:4}",
    "privcjk": "客户手机号 138{d:8}",
}

CHOICES = {
    "user": "deploy app_user maria jenkins admin svc_orders kenji backup root olga tomas priya",
    "db": "orders billing analytics shop crm inventory payments tickets events catalog",
    "svc": "checkout billing-api auth-gateway mailer search-indexer notifier ledger webshop",
    "host": "db.internal.lumo.io pg-main.acorn.dev 10.20.4.17 db01.northwind.lan "
    "orders-prod.cx3v9k.eu-west-1.rds.amazonaws.com localhost postgres mysql.corvid.net",
    "site": "lumo.io acorn.dev northwind.lan corvid.net brightleaf.co harborcloud.app",
    "region": "us-east-1 eu-west-1 eu-central-1 ap-northeast-1 us-west-2",
    "file": "src/auth.py lib/client.ts app/models/user.rb internal/store/db.go "
    "config/settings.py src/main/java/App.java server/routes.js src/lib.rs",
    "first": "Maria Kenji Olga Tomas Priya Aylin Lars Chen Fatima Diego Minh Anouk",
    "branch": "main develop feature/login fix/rate-limit release/2.4 chore/deps",
    "pkg": "express lodash requests pydantic serde tokio axios zod fastapi react pytest",
    "word": "falcon maple harbor tiger copper willow comet granite saffron meadow",
    "env": "staging production dev preview qa sandbox",
    "prov": "OpenAI Stripe GitHub Slack Twilio SendGrid Datadog Cloudflare Sentry Linear",
    "PROV": "OPENAI STRIPE GITHUB SLACK TWILIO SENDGRID DATADOG CLOUDFLARE SENTRY LINEAR",
}

# Published samples that everybody knows.
SAMPLES = {
    "doc_aws_id": "AKIAIOSFODNN7EXAMPLE",
    "doc_aws_secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "doc_stripe": "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
    "doc_jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6Ikpv"
    "aG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
}

# Lines of everyday talk and logs, to make long turns of.
LONG_LINES = """\
I went through «file» and the failing test first; the retry loop never reaches its limit.
The build on «branch» took «n» seconds, most of it spent resolving «pkg» «ver».
[«day» «clock»] INFO  «svc» request finished status=200 duration=«ms»ms
[«day» «clock»] WARN  «svc» slow query on table «db» rows=«n5»
[«day» «clock»] DEBUG «svc» cache miss key=user:«n5» ttl=«n3»
commit «sha40» «first» rewrote the pagination of the «db» view
 «file» | «n» ++++++++-----
Next I will move the validation into its own function and add a regression test for it.
    at Object.<anonymous> (/srv/app/dist/index.js:«n3»:«n»)
npm warn deprecated «pkg»@«ver»: this version is no longer supported
Pod «svc»-«pod» was restarted once, the readiness probe answered after «n» seconds.
You are right that the old handler swallowed the exception, I removed the bare except.
The migration adds an index on created_at and drops the unused column legacy_ref.
PASS  tests/«word».test.ts («ms» s)
GET /api/v1/«db»?page=«n» HTTP/1.1 200 «n5» - «ms» ms
Let me also check whether the «env» cluster runs the same image, «svc»:«ver».
The type checker is happy now, and «n3» tests pass; two are skipped on Windows.
""".splitlines()


POSITIVE_FRAMES = r"""
=== env_file
OPENAI_API_KEY=«!openai»
=== env_file
# .env
NODE_ENV=production
PORT=3000
OPENAI_API_KEY="«!openai_old»"
ANTHROPIC_API_KEY="«!anthropic»"
LOG_LEVEL=info
=== env_file
AWS_ACCESS_KEY_ID=«aws_id»
AWS_SECRET_ACCESS_KEY=«!aws_secret»
AWS_DEFAULT_REGION=«region»
=== env_file
export AWS_ACCESS_KEY_ID="«aws_tmp_id»"
export AWS_SECRET_ACCESS_KEY="«!aws_secret»"
export AWS_SESSION_TOKEN="«!aws_session»"
=== env_file
STRIPE_SECRET_KEY=«!stripe»
STRIPE_WEBHOOK_SECRET=«!whsec»
APP_URL=https://«svc».«site»
=== env_file
DATABASE_URL=postgresql://«user»:«!pwurl»@«host»:5432/«db»
REDIS_URL=redis://default:«!pwurl»@«host»:6379/0
SECRET_KEY=«!hex64»
=== env_file
DB_HOST=«host»
DB_PORT=3306
DB_DATABASE=«db»
DB_USERNAME=«user»
DB_PASSWORD=«!pws»
APP_KEY=base64:«!b64_32»
=== env_file
GITHUB_TOKEN=«!ghp»
=== env_file
GITLAB_TOKEN=«!glpat»
CI_REGISTRY_USER=«user»
=== env_file
SLACK_BOT_TOKEN=«!xoxb»
SLACK_APP_TOKEN=«!xapp»
SLACK_SIGNING_SECRET=«!hex32»
=== env_file
TWILIO_ACCOUNT_SID=«acsid»
TWILIO_AUTH_TOKEN=«!twilio»
=== env_file
SENDGRID_API_KEY='«!sendgrid»'
MAIL_FROM=noreply@«site»
=== env_file
MAILGUN_API_KEY=«!mailgun»
MAILGUN_DOMAIN=mg.«site»
=== env_file
NEXT_PUBLIC_SUPABASE_URL=https://xyzcompany.supabase.co
SUPABASE_SERVICE_ROLE_KEY=«!jwt»
=== env_file
SUPABASE_ACCESS_TOKEN=«!sbp»
SUPABASE_SECRET_KEY=«!sb_secret»
=== env_file
GROQ_API_KEY=«!groq»
MISTRAL_API_KEY=«!mistral»
COHERE_API_KEY=«!cohere»
=== env_file
OPENROUTER_API_KEY=«!openrouter»
DEEPSEEK_API_KEY=«!deepseek»
=== env_file
GEMINI_API_KEY=«!google»
=== env_file
HF_TOKEN=«!hf»
REPLICATE_API_TOKEN=«!r8»
PINECONE_API_KEY=«!pinecone»
=== env_file
LANGCHAIN_TRACING_V2=true
LANGCHAIN_API_KEY=«!langsmith»
TAVILY_API_KEY=«!tavily»
=== env_file
XAI_API_KEY=«!xai»
PERPLEXITY_API_KEY=«!pplx»
ELEVENLABS_API_KEY=«!eleven»
=== env_file
DD_API_KEY=«!datadog»
DD_APP_KEY=«!datadog_app»
DD_SITE=datadoghq.eu
=== env_file
NEW_RELIC_API_KEY=«!nrak»
SENTRY_AUTH_TOKEN=«!sntryu»
=== env_file
CLOUDFLARE_API_TOKEN=«!cf»
CLOUDFLARE_ACCOUNT_ID=«md5»
=== env_file
VERCEL_TOKEN=«!vercel»
NETLIFY_AUTH_TOKEN=«!netlify»
=== env_file
DIGITALOCEAN_ACCESS_TOKEN=«!dop»
=== env_file
DISCORD_TOKEN=«!discord»
TELEGRAM_BOT_TOKEN=«!telegram»
=== env_file
LINEAR_API_KEY=«!linear»
NOTION_TOKEN=«!ntn»
FIGMA_TOKEN=«!figd»
AIRTABLE_API_KEY=«!airtable»
=== env_file
JIRA_EMAIL=«user»@«site»
JIRA_API_TOKEN=«!atlassian»
=== env_file
SHOPIFY_ACCESS_TOKEN=«!shpat»
SHOPIFY_SHOP=«word».myshopify.com
=== env_file
NEXTAUTH_URL=http://localhost:3000
NEXTAUTH_SECRET=«!b64_32»
GOOGLE_CLIENT_SECRET=«!gocspx»
=== env_file
JWT_SECRET=«!hex64»
SESSION_SECRET=«!tok40»
ENCRYPTION_KEY=«!hex64»
=== env_file
AUTH0_DOMAIN=«word».eu.auth0.com
AUTH0_CLIENT_SECRET=«!auth0»
=== env_file
AZURE_OPENAI_ENDPOINT=https://«word».openai.azure.com/
AZURE_OPENAI_API_KEY=«!azure_openai»
AZURE_CLIENT_SECRET=«!azure_client»
=== env_file
RESEND_API_KEY=«!resend»
POSTMARK_SERVER_TOKEN=«!uuid»
=== env_file
SMTP_HOST=smtp.«site»
SMTP_PORT=587
SMTP_USER=noreply@«site»
SMTP_PASS=«!pws»
=== env_file
DATABASE_URL='mysql://«user»:«!pscale»@aws.connect.psdb.cloud/«db»?ssl=true'
=== env_file
DATABASE_URL="postgres://«user»:«!neon»@ep-cool-«word»-12.eu-central-1.aws.neon.tech/neondb"
=== env_file
ALGOLIA_APP_ID=«word»
ALGOLIA_ADMIN_KEY=«!algolia»
HUBSPOT_TOKEN=«!hubspot»
=== env_file
DJANGO_SETTINGS_MODULE=config.settings
DJANGO_SECRET_KEY='«!django»'
=== env_file
MINIO_ROOT_USER=minio
MINIO_ROOT_PASSWORD=«!pwa»
=== env_file
POSTGRES_USER=«user»
POSTGRES_PASSWORD="«!pwq»"
POSTGRES_DB=«db»
=== env_file
NPM_TOKEN=«!npm»
PYPI_TOKEN=«!pypi»
=== env_file
TS_AUTHKEY=«!tskey»
DOPPLER_TOKEN=«!doppler»
=== env_file
DATABRICKS_HOST=https://dbc-«sub».cloud.databricks.com
DATABRICKS_TOKEN=«!databricks»
=== env_file
SNOWFLAKE_ACCOUNT=xy12345.«region»
SNOWFLAKE_USER=«user»
SNOWFLAKE_PASSWORD=«!pws»
=== env_file
VAULT_ADDR=https://vault.«site»:8200
VAULT_TOKEN=«!vault»
TF_TOKEN_app_terraform_io=«!tfc»
=== env_file
POSTHOG_PERSONAL_API_KEY=«!phx»
SONAR_TOKEN=«!sqp»
SQUARE_ACCESS_TOKEN=«!square»
=== code
from openai import OpenAI

client = OpenAI(api_key="«!openai»")
=== code
import anthropic
client = anthropic.Anthropic(api_key='«!anthropic»')
message = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=msgs)
=== code
const stripe = require('stripe')('«!stripe»');
=== code
const client = new S3Client({
  region: "«region»",
  credentials: {
    accessKeyId: "«aws_id»",
    secretAccessKey: "«!aws_secret»",
  },
});
=== code
s3 = boto3.client(
    "s3",
    aws_access_key_id="«aws_id»",
    aws_secret_access_key="«!aws_secret»",
)
=== code
conn = psycopg2.connect(host="«host»", dbname="«db»", user="«user»", password="«!pws»")
=== code
engine = create_engine("postgresql+psycopg2://«user»:«!pwurl»@«host»/«db»")
=== code
db, err := sql.Open("mysql", "«user»:«!pwurl»@tcp(«host»:3306)/«db»?parseTime=true")
if err != nil {
    log.Fatal(err)
}
=== code
const (
    apiToken = "«!ghp»"
    baseURL  = "https://api.github.com"
)
=== code
public class Config {
    private static final String DB_USER = "«user»";
    private static final String DB_PASSWORD = "«!pws»";
}
=== code
Connection c = DriverManager.getConnection("jdbc:mysql://«host»/«db»", "«user»", "«!pws»");
=== code
var client = new HttpClient();
client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", "«!jwt»");
=== code
$mysqli = new mysqli('«host»', '«user»', '«!pws»', '«db»');
=== code
define('DB_NAME', '«db»');
define('DB_USER', '«user»');
define('DB_PASSWORD', '«!pwq»');
define('AUTH_KEY', '«!opaque»');
=== code
Stripe.api_key = '«!stripe_test»'
=== code
let client = Client::new().bearer_auth("«!groq»");
=== code
val apiKey = "«!google»"
val url = "https://maps.googleapis.com/maps/api/geocode/json?address=$address&key=$apiKey"
=== code
let headers = ["Authorization": "Bearer «!openai»", "Content-Type": "application/json"]
=== code
final storage = await OpenAI.instance.build(token: '«!openai_old»');
=== code
const SECRET = "«!hex64»";
const token = jwt.sign({ id: user.id }, SECRET, { expiresIn: "1h" });
=== code
app.use(session({ secret: '«!tok24»', resave: false, saveUninitialized: true }));
=== code
SECRET_KEY = "«!django»"
DEBUG = True
ALLOWED_HOSTS = []
=== code
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "«db»",
        "USER": "«user»",
        "PASSWORD": "«!pwq»",
        "HOST": "«host»",
    }
}
=== code
$password = ConvertTo-SecureString '«!pw»' -AsPlainText -Force
$cred = New-Object System.Management.Automation.PSCredential("«user»", $password)
=== code
#!/bin/bash
set -euo pipefail
TOKEN="«!glpat»"
curl --header "PRIVATE-TOKEN: $TOKEN" "https://gitlab.«site»/api/v4/projects"
=== code
transporter = nodemailer.createTransport({
  host: "smtp.«site»",
  auth: { user: "noreply@«site»", pass: "«!pws»" },
});
=== code
twilio = Client("«acsid»", "«!twilio»")  # account sid, auth token
auth_token = "«!twilio»"
=== code
r = redis.Redis(host="«host»", port=6379, password="«!pwa»")
=== code
mongoose.connect('mongodb+srv://«user»:«!pwurl»@cluster0.«sub».mongodb.net/«db»')
=== code
bot.login("«!discord»");
=== code
-#    api_key: os.environ["SENDGRID_API_KEY"]
+    api_key = "«!sendgrid»"
=== code
diff --git a/.env b/.env
index «sha7»..«sha7» 100644
--- a/.env
+++ b/.env
@@ -1,3 +1,3 @@
 APP_ENV=«env»
-MAIL_PASSWORD=«!pwa»
+MAIL_PASSWORD=«!pwa»
=== code
CREATE USER '«user»'@'%' IDENTIFIED BY '«!pws»';
GRANT ALL PRIVILEGES ON «db».* TO '«user»'@'%';
=== code
ALTER USER «user» WITH PASSWORD '«!pws»';
=== code
CREATE ROLE «user» LOGIN PASSWORD '«!pwa»' VALID UNTIL '2027-01-01';
=== code
string connStr = "Server=«host»;Database=«db»;User Id=«user»;Password=«!pws»;Encrypt=True;";
=== code
huggingface_hub.login(token="«!hf»")
=== code
requests.post(url, headers={"X-API-Key": "«!tok40»"}, json=payload, timeout=10)
=== code
config :my_app, MyApp.Repo,
  username: "«user»",
  password: "«!pws»",
  hostname: "«host»"
=== code
options(OPENAI_API_KEY = "«!openai»")
Sys.setenv(GITHUB_PAT = "«!ghp»")
=== code
ssh.connect("«ip»", username="«user»", password="«!pw»")
=== code
const supabase = createClient(url, "«!sb_secret»", { auth: { persistSession: false } });
=== code
app.config["JWT_SECRET_KEY"] = "«!tok40»"
=== curl_http
curl https://api.openai.com/v1/models -H "Authorization: Bearer «!openai»"
=== curl_http
curl https://api.anthropic.com/v1/messages \
  -H "x-api-key: «!anthropic»" \
  -H "anthropic-version: 2023-06-01" \
  -d '{"model": "claude-sonnet-4-5", "max_tokens": 64}'
=== curl_http
curl -s -u «user»:«!pwa» https://jenkins.«site»/job/«svc»/lastBuild/api/json
=== curl_http
curl -u "«user»:«!pws»" -X PUT "https://«host»:9200/«db»/_settings"
=== curl_http
curl -X POST -H 'Content-type: application/json' --data '{"text":"deploy done"}' ¬
https://hooks.slack.com/services/«slack_t»/«slack_b»/«!slack_hook»
=== curl_http
curl -H "Authorization: token «!ghp»" https://api.github.com/user/repos?per_page=100
=== curl_http
curl https://api.stripe.com/v1/charges -u «!stripe_test»: -d amount=2000 -d currency=eur
=== curl_http
curl --request GET --url 'https://«svc».«site»/v1/items' --header 'X-Api-Key: «!tok40»'
=== curl_http
curl "https://generativelanguage.googleapis.com/v1beta/models?key=«!google»"
=== curl_http
curl -s "https://api.telegram.org/bot«!telegram»/getUpdates"
=== curl_http
> GET /v1/me HTTP/1.1
> Host: api.«site»
> User-Agent: curl/8.5.0
> Accept: */*
> Authorization: Bearer «!jwt»
>
< HTTP/1.1 200 OK
< content-type: application/json
=== curl_http
GET /api/v2/users HTTP/1.1
Host: «svc».«site»
Authorization: Basic «!basic»
Accept: application/json
=== curl_http
POST /login HTTP/1.1
Host: «site»
Content-Type: application/x-www-form-urlencoded

username=«user»&password=«!pwa»&remember=1
=== curl_http
http POST https://«svc».«site»/api/login username=«user» password='«!pws»'
=== curl_http
curl -X POST https://«word».okta.com/api/v1/users -H "Authorization: SSWS «!okta»"
=== curl_http
curl -X POST https://«word».auth0.com/oauth/token \
  -H 'content-type: application/json' \
  -d '{"client_id":"«tok24»","client_secret":"«!auth0»","grant_type":"client_credentials"}'
=== curl_http
HTTP/1.1 302 Found
Set-Cookie: session=«!opaque»; Path=/; HttpOnly; Secure
Location: /dashboard
=== curl_http
wget --http-user=«user» --http-password=«!pwa» https://files.«site»/dump.tar.gz
=== curl_http
GET https://«svc».«site»/export?access_token=«!tok40»&format=csv 200 in «ms»ms
=== curl_http
Invoke-RestMethod -Uri "https://api.«site»/v1" -Headers @{ Authorization = "Bearer «!tok40»" }
=== curl_http
curl -d grant_type=client_credentials -d client_id=«uuid» -d client_secret=«!azure_client» ¬
https://login.microsoftonline.com/«uuid»/oauth2/v2.0/token
=== chat_en
the password is «!pw»
=== chat_en
here's my openai key: «!openai»
=== chat_en
use this token for github «!ghp» and push the branch please
=== chat_en
My password for the staging db is «!pws», user is «user»
=== chat_en
login: «user»@«site»
pw: «!pw»
=== chat_en
Username: «user» / Password: «!pw»
=== chat_en
can you ssh to «ip» as «user» (password «!pwa») and restart «svc»?
=== chat_en
I rotated it, the new secret is `«!tok40»` - please update «file»
=== chat_en
root password: «!pws»
=== chat_en
creds for «svc»: «user» / «!pws»
=== chat_en
why does this fail? api key «!anthropic» gives me 401
=== chat_en
Sorry, wrong one. It's "«!pw»", the old password was "«!pw»".
=== chat_en
wifi password at the office is «!pw» if you need it
=== chat_en
Add STRIPE_SECRET_KEY=«!stripe» to the vercel project and redeploy
=== chat_en
aws creds: «aws_id» / secret access key «!aws_secret»
=== chat_en
the DB's passwd=«!pwa» btw
=== chat_en
bot token from BotFather: «!telegram»
=== chat_en
I found a leaked key in the repo, `«!aws_id»`, should I rotate it?
=== chat_en
sendgrid key is «!sendgrid».
=== chat_en
Here you go: «!glpat»
=== chat_en
set the admin password to «!pw» and the replica password to «!pw»
=== chat_en
passphrase for the deploy key: «!pw»
=== chat_en
the service account's client secret is «!gocspx», id ends in apps.googleusercontent.com
=== chat_lang
Das Passwort ist «!pw»
=== chat_lang
Passwort für «user»: «!pw», bitte in die Konfiguration eintragen
=== chat_lang
Das Kennwort lautet «!pws» und der Benutzer ist «user».
=== chat_lang
le mot de passe est «!pw»
=== chat_lang
Mot de passe : «!pws»
=== chat_lang
la contraseña es «!pw»
=== chat_lang
usuario: «user»
contraseña: «!pws»
=== chat_lang
a senha é «!pw», pode testar
=== chat_lang
senha do banco: «!pws»
=== chat_lang
la password è «!pw»
=== chat_lang
het wachtwoord is «!pw»
=== chat_lang
hasło: «!pw»
=== chat_lang
Hasło do bazy «db» to «!pws»
=== chat_lang
пароль: «!pw»
=== chat_lang
Пароль от базы «db» — «!pws», логин «user»
=== chat_lang
пароль для сервера «ip»: «!pwa»
=== chat_lang
şifre: «!pw»
=== chat_lang
Veritabanı parolası: «!pws»
=== chat_lang
lösenordet är «!pw»
=== chat_lang
adgangskode: «!pw»
=== chat_lang
كلمة المرور: «!pw»
=== chat_lang
כלי הבדיקה, הסיסמה: «!pw»
=== chat_lang
पासवर्ड: «!pw»
=== chat_lang
mật khẩu: «!pw»
=== chat_lang
heslo: «!pw»
=== chat_lang
jelszó: «!pws»
=== chat_lang
kata sandi: «!pw»
=== chat_lang
รหัสผ่าน: «!pw»
=== cjk
密码是«!pw»，请用它登录
=== cjk
数据库密码：«!pws»
=== cjk
用户名：«user» 密码：«!pwa»
=== cjk
我的密钥是«!openai»帮我测试一下
=== cjk
请用这个token：«!ghp»，推送到«branch»分支
=== cjk
服务器«ip»的root密码为«!pws»。
=== cjk
密碼：«!pw»（請勿外傳）
=== cjk
パスワードは«!pw»です
=== cjk
パスワード：«!pws»
=== cjk
APIキーは「«!anthropic»」です。設定に追加してください。
=== cjk
비밀번호는 «!pw»입니다
=== cjk
비밀번호: «!pws»
=== cjk
토큰은«!glpat»이고 사용자는 «user»
=== cjk
这是我的AWS密钥，secret是«!aws_secret»，区域«region»
=== db_url
postgres://«user»:«!pwurl»@«host»:5432/«db»
=== db_url
The app connects with mysql://«user»:«!pwurl»@«host»/«db»?charset=utf8mb4 and times out.
=== db_url
MONGO_URI=mongodb://«user»:«!pwurl»@«host»:27017,«host»:27017/«db»?replicaSet=rs0&authSource=admin
=== db_url
CELERY_BROKER_URL=amqp://«user»:«!pwurl»@rabbitmq:5672/prod
=== db_url
redis-cli -u redis://:«!pwurl»@«host»:6379/2
=== db_url
psql "postgresql://«user»:«!pwurl»@«host»/«db»?sslmode=require" -c 'select 1'
=== db_url
PGPASSWORD=«!pwa» pg_dump -h «host» -U «user» «db» > dump.sql
=== db_url
mysql -h «host» -u «user» -p'«!pws»' «db»
=== db_url
mysqldump -u«user» --password=«!pwa» «db» | gzip > «db».sql.gz
=== db_url
jdbc:postgresql://«host»:5432/«db»?user=«user»&password=«!pwa»
=== db_url
clickhouse-client --host «host» --user «user» --password '«!pws»'
=== db_url
sqlcmd -S «host» -U sa -P '«!pws»' -Q "SELECT @@VERSION"
=== db_url
DefaultEndpointsProtocol=https;AccountName=«sub»;AccountKey=«!azure_key»;¬
EndpointSuffix=core.windows.net
=== db_url
AccountEndpoint=https://«word».documents.azure.com:443/;AccountKey=«!azure_key»;
=== db_url
Endpoint=sb://«word».servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«!b64_32»
=== db_url
mongosh "mongodb+srv://cluster0.«sub».mongodb.net/" --username «user» --password «!pwa»
=== compose_yaml
services:
  db:
    image: postgres:16
    environment:
      POSTGRES_USER: «user»
      POSTGRES_PASSWORD: «!pwa»
      POSTGRES_DB: «db»
=== compose_yaml
  mysql:
    image: mysql:8
    environment:
      - MYSQL_ROOT_PASSWORD=«!pws»
      - MYSQL_DATABASE=«db»
      - MYSQL_PASSWORD=«!pwa»
=== compose_yaml
  app:
    build: .
    environment:
      DATABASE_URL: "postgres://«user»:«!pwurl»@db:5432/«db»"
      OPENAI_API_KEY: "«!openai»"
    depends_on: [db]
=== compose_yaml
  grafana:
    image: grafana/grafana:11.1.0
    environment:
      - GF_SECURITY_ADMIN_USER=admin
      - GF_SECURITY_ADMIN_PASSWORD=«!pwa»
=== compose_yaml
  redis:
    image: redis:7
    command: redis-server --requirepass «!pwa» --appendonly yes
=== app_config
spring:
  datasource:
    url: jdbc:postgresql://«host»:5432/«db»
    username: «user»
    password: «!pws»
=== app_config
spring.datasource.username=«user»
spring.datasource.password=«!pws»
spring.jpa.hibernate.ddl-auto=update
=== app_config
{
  "ConnectionStrings": {
    "Default": "Server=«host»;Database=«db»;User Id=«user»;Password=«!pws»;"
  },
  "Jwt": { "Key": "«!tok40»", "Issuer": "«site»" }
}
=== app_config
production:
  adapter: postgresql
  host: «host»
  username: «user»
  password: "«!pws»"
=== app_config
[database]
host = «host»
user = «user»
password = «!pwa»
=== app_config
//registry.npmjs.org/:_authToken=«!npm»
=== app_config
[pypi]
username = __token__
password = «!pypi»
=== app_config
machine github.com
login «user»
password «!ghp»
=== app_config
[default]
aws_access_key_id = «aws_id»
aws_secret_access_key = «!aws_secret»
region = «region»
=== app_config
<server>
  <id>nexus</id>
  <username>«user»</username>
  <password>«!pwa»</password>
</server>
=== app_config
<add key="SmtpPassword" value="«!pws»" />
=== app_config
{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "«!ghpat»" }
    }
  }
}
=== app_config
{"auths": {"ghcr.io": {"auth": "«!basic»"}}}
=== app_config
[Interface]
PrivateKey = «!wg»
Address = 10.8.0.2/32
=== app_config
[registry]
token = "«!crates»"
=== app_config
mailer:
  dsn: smtp://«user»:«!pwurl»@smtp.«site»:587
=== app_config
maxclients 1«n5»
requirepass «!pwa»
masterauth «!pwa»
=== iac
provider "aws" {
  region     = "«region»"
  access_key = "«aws_id»"
  secret_key = "«!aws_secret»"
}
=== iac
resource "aws_db_instance" "main" {
  engine   = "postgres"
  username = "«user»"
  password = "«!pws»"
}
=== iac
# terraform.tfvars
db_password        = "«!pwa»"
cloudflare_api_token = "«!cf»"
environment        = "«env»"
=== iac
apiVersion: v1
kind: Secret
metadata:
  name: «svc»-secrets
type: Opaque
data:
  password: «!b64pw»
=== iac
apiVersion: v1
kind: Secret
metadata:
  name: «svc»
stringData:
  DB_PASSWORD: «!pws»
  STRIPE_KEY: «!stripe»
=== iac
        env:
        - name: DB_USER
          value: «user»
        - name: DB_PASSWORD
          value: "«!pws»"
=== iac
# values.yaml
postgresql:
  auth:
    username: «user»
    password: «!pwa»
    postgresPassword: «!pwa»
=== iac
helm upgrade --install «svc» ./chart --set image.tag=«ver» --set db.password=«!pwa»
=== iac
kubectl create secret generic «svc» --from-literal=DB_PASSWORD='«!pws»' -n «env»
=== iac
kubectl create secret docker-registry regcred --docker-server=ghcr.io ¬
--docker-username=«user» --docker-password=«!ghp»
=== iac
[web]
web1 ansible_host=«ip» ansible_user=«user» ansible_password=«!pwa» ansible_become_pass=«!pwa»
=== iac
- name: create db user
  community.postgresql.postgresql_user:
    name: «user»
    password: "«!pws»"
=== iac
ENV NODE_ENV=production
ENV API_SECRET=«!tok40»
ARG NPM_TOKEN=«!npm»
=== iac
      "db_password": {
        "value": "«!pws»",
        "type": "string",
        "sensitive": true
      },
=== ci_log
[«day»T«clock»Z] + docker login -u «user» -p «!dckr»
[«day»T«clock»Z] WARNING! Using --password via the CLI is insecure. Use --password-stdin.
[«day»T«clock»Z] Login Succeeded
=== ci_log
Run npm publish
  env:
    NODE_AUTH_TOKEN: «!npm»
npm notice Publishing to https://registry.npmjs.org/
=== ci_log
$ git clone https://oauth2:«!glpat»@gitlab.«site»/team/«svc».git
Cloning into '«svc»'...
=== ci_log
fatal: unable to access 'https://x-access-token:«!ghs»@github.com/acme/«svc»/': error 403
=== ci_log
#14 [builder 5/9] RUN pip install --index-url https://«user»:«!pwurl»@pypi.«site»/simple -r req.txt
#14 «ms» Collecting «pkg»
=== ci_log
+ sonar-scanner -Dsonar.projectKey=«svc» -Dsonar.login=«!sqp»
INFO: Scanner configuration file: /opt/sonar/conf
=== ci_log
circleci: exporting CIRCLE_TOKEN=«!circleci»
=== ci_log
deploy_job  | vault write auth/approle/login role_id=«uuid» secret_id=«!uuid»
=== tool_output
$ env | sort
HOME=/root
LANG=C.UTF-8
OPENAI_API_KEY=«!openai»
PATH=/usr/local/bin:/usr/bin:/bin
PGPASSWORD=«!pwa»
=== tool_output
$ cat .env
PORT=8080
STRIPE_SECRET_KEY=«!stripe»
DB_PASSWORD=«!pws»
=== tool_output
$ git remote -v
origin  https://«user»:«!ghp:1»@github.com/acme/«svc».git (fetch)
origin  https://«user»:«!ghp:1»@github.com/acme/«svc».git (push)
=== tool_output
$ kubectl get secret «svc» -o jsonpath='{.data.password}' | base64 -d
«!pw»
=== tool_output
$ docker inspect «svc»
            "Env": [
                "PATH=/usr/local/sbin:/usr/local/bin",
                "MYSQL_ROOT_PASSWORD=«!pws»",
                "MYSQL_VERSION=8.4.«n»"
            ],
=== tool_output
$ aws iam create-access-key --user-name «user»
{
    "AccessKey": {
        "UserName": "«user»",
        "AccessKeyId": "«aws_id»",
        "Status": "Active",
        "SecretAccessKey": "«!aws_secret»",
        "CreateDate": "«day»T«clock»+00:00"
    }
}
=== tool_output
$ aws secretsmanager get-secret-value --secret-id «svc»/db
{
    "Name": "«svc»/db",
    "SecretString": "{\"username\":\"«user»\",\"password\":\"«!pwa»\"}",
    "VersionStages": ["AWSCURRENT"]
}
=== tool_output
$ aws ssm get-parameter --name /«svc»/db_password --with-decryption --query Parameter.Value
"«!pws»"
=== tool_output
$ gcloud auth print-access-token
«!ya29»
=== tool_output
$ az ad sp create-for-rbac --name «svc»
{
  "appId": "«uuid»",
  "displayName": "«svc»",
  "password": "«!azure_client»",
  "tenant": "«uuid»"
}
=== tool_output
$ az storage account keys list -n «sub»
[{"keyName": "key1", "permissions": "FULL", "value": "«!azure_key»"}]
=== tool_output
$ gh auth token
«!gho»
=== tool_output
$ heroku config -a «svc»
«eq» «svc» Config Vars
DATABASE_URL:  postgres://«user»:«!pwurl»@ec2-3-12.compute-1.amazonaws.com:5432/«db»
HEROKU_API_KEY: «!heroku»
=== tool_output
Traceback (most recent call last):
  File "/app/db.py", line «n», in connect
    engine = create_engine("mysql+pymysql://«user»:«!pwurl»@«host»/«db»")
sqlalchemy.exc.OperationalError: (2003, "Can't connect to MySQL server on '«host»'")
=== tool_output
openai.AuthenticationError: Error code: 401 - api_key='«!openai_old»' is not active
=== tool_output
[«day» «clock»] DEBUG http.client: send: 'POST /v1/chat HTTP/1.1' Authorization: Bearer «!groq»
=== tool_output
ps aux | grep «svc»
«user»  «n5»  0.3  1.2 java -jar «svc».jar --db.user=«user» --db.password=«!pwa»
=== tool_output
$ history | tail -3
  «n3»  cd /srv/«svc»
  «n3»  export DB_PASS='«!pws»'
  «n3»  ./deploy.sh «env»
=== tool_output
$ terraform output -raw db_password
«!pwa»
=== tool_output
$ vault kv get secret/«svc»
====== Data ======
Key         Value
---         -----
password    «!pwa»
username    «user»
=== tool_output
$ docker compose config
    environment:
      JWT_SECRET: «!hex64»
      LOG_LEVEL: debug
=== tool_output
$ cat ~/.config/gh/hosts.yml
github.com:
    user: «user»
    oauth_token: «!gho»
    git_protocol: https
=== tool_output
$ cat ~/.pgpass
«host»:5432:«db»:«user»:«!pwa»
=== tool_output
$ railway variables
║ DATABASE_URL │ postgresql://postgres:«!pwurl»@containers-us-west-12.railway.app:5432/railway ║
=== tool_output
{"level":"info","time":"«day»T«clock»Z","msg":"config loaded","apiKey":"«!tok40»","port":8080}
=== tool_output
$ kubectl -n «env» exec deploy/«svc» -- printenv | grep -i token
SLACK_BOT_TOKEN=«!xoxb»
=== tool_output
Jenkins initial setup is required. Please use the following password to proceed:

«!hex32»

This may also be found at: /var/jenkins_home/secrets/initialAdminPassword
=== oauth_json
{
  "access_token": "«!ya29»",
  "expires_in": 3599,
  "refresh_token": "«!g_refresh»",
  "scope": "https://www.googleapis.com/auth/drive",
  "token_type": "Bearer"
}
=== oauth_json
{"access_token":"«!jwt»","token_type":"bearer","expires_in":3600}
=== oauth_json
{"id":«n5»,"email":"«user»@«site»","token":"«!jwt»","refreshToken":"«!opaque»"}
=== oauth_json
POST /oauth/token
grant_type=refresh_token&refresh_token=«!opaque»&client_id=«svc»
=== oauth_json
{ok: true, access_token: '«!xoxp»', team: { name: '«word»' }}
=== webhook
const HOOK = "https://discord.com/api/webhooks/1«n5»«n5»«n5»12/«!discord_hook»"
=== webhook
SLACK_WEBHOOK_URL=https://hooks.slack.com/services/«slack_t»/«slack_b»/«!slack_hook»
=== webhook
  receivers:
  - name: ops
    slack_configs:
    - api_url: https://hooks.slack.com/services/«slack_t»/«slack_b»/«!slack_hook»
=== webhook
stripe listen --forward-to localhost:4242
> Ready! Your webhook signing secret is «!whsec» (^C to quit)
=== key_material
-----BEGIN RSA PRIVATE KEY-----
«!pem»
-----END RSA PRIVATE KEY-----
=== key_material
here is the deploy key:
-----BEGIN OPENSSH PRIVATE KEY-----
«!openssh»
-----END OPENSSH PRIVATE KEY-----
put it in ~/.ssh/id_ed25519 please
=== key_material
$ cat server.key
-----BEGIN PRIVATE KEY-----
«!pem»
-----END PRIVATE KEY-----
$ ls -l server.key
=== key_material
{
  "type": "service_account",
  "project_id": "«word»-«n3»",
  "private_key_id": "«sha40»",
  "private_key": "-----BEGIN PRIVATE KEY-----\n«!pem1»\n-----END PRIVATE KEY-----\n",
  "client_email": "«user»@«word»-«n3».iam.gserviceaccount.com"
}
=== key_material
FIREBASE_PRIVATE_KEY="-----BEGIN PRIVATE KEY-----\n«!pem1»\n-----END PRIVATE KEY-----\n"
=== key_material
stringData:
  tls.key: |
    -----BEGIN PRIVATE KEY-----
    «!pem»
    -----END PRIVATE KEY-----
=== key_material
-----BEGIN PGP PRIVATE KEY BLOCK-----

«!pgp»
=aB3d
-----END PGP PRIVATE KEY BLOCK-----
=== key_material
# created: «day»T«clock»Z
# public key: «agepub»
«!age»
=== key_material
-----BEGIN EC PRIVATE KEY-----
«!pem»
-----END EC PRIVATE KEY-----
=== key_material
The log stops in the middle of the key:
-----BEGIN RSA PRIVATE KEY-----
«!pem»
=== key_material
+++ b/certs/dev.pem
@@ -0,0 +1,14 @@
+-----BEGIN RSA PRIVATE KEY-----
+«!pem»
+-----END RSA PRIVATE KEY-----
=== private_block
Please remember the release date. <private>«!privnote»</private> Thanks!
=== private_block
<private>
The staging admin is «user», he uses «!pw»
</private>
What does «file» do?
=== private_block
数据<private>«!privcjk»</private>不要保存
=== private_block
Run it as «user». <private>token «!tok40»</private> Then open port 8080.
=== multi_turn
assistant: I need the database password to run the migration. What is it?
user: «!pw»
assistant: Thanks, running it now.
=== multi_turn
User: deploy it
Assistant: Which API token should I use for Cloudflare?
User: «!cf»
=== multi_turn
Q: What is the «PROV» API key?
A: «!tok40»
=== multi_turn
Human: my login doesn't work
Assistant: Which user name and password did you enter?
Human: «user» and «!pws»
=== multi_turn
Assistant: Please paste your Anthropic key so that I can write the .env file.

User: sure
«!anthropic»
=== multi_turn
Agent: Wie lautet das Passwort für die Datenbank?
Nutzer: «!pw»
=== multi_turn
助手：请提供数据库密码
用户：«!pw»
=== multi_turn
{"role":"assistant","content":"Please send me the bot token."}
{"role":"user","content":"it is «!xoxb»"}
=== multi_turn
[sudo] password for «user»: «!pw»
Hit:1 http://archive.ubuntu.com/ubuntu noble InRelease
=== multi_turn
$ ssh «user»@«ip»
«user»@«ip»'s password: «!pwa»
Last login: Mon Jan 12 09:14:02 2026
=== long_turn
«long»
DB_PASSWORD=«!pws»
«long»
=== long_turn
«long»
By the way the password for «env» is «!pw», we keep it in the wiki.
«long»
=== long_turn
«long»
[«day» «clock»] DEBUG «svc» headers={'Authorization': 'Bearer «!jwt»', 'Accept': '*/*'}
«long»
=== long_turn
«long»
-----BEGIN RSA PRIVATE KEY-----
«!pem»
-----END RSA PRIVATE KEY-----
«long»
=== long_turn
«long»
2. set `OPENAI_API_KEY` to `«!openai»` and restart
«long»
=== long_turn
«long»
dsn: postgres://«user»:«!pwurl»@«host»:5432/«db»
«long»
=== long_turn
«long»
    "aws_secret_access_key": "«!aws_secret»",
«long»
=== long_turn
«long»
顺便说一下，密码是«!pw»，不要忘了
«long»
=== db_url
it says connection refused: postgres://«user»:«!pwraw»@«host»:5432/«db»
=== chat_en
the passphrase is "«!phrase»", without the quotes
=== code
params = {'host': '«host»', 'user': '«user»', 'password': '«!pws»', 'port': 5432}
=== code
<input type="password" name="password" value="«!pw»">
=== code
$env:OPENAI_API_KEY = "«!openai»"
python main.py
=== code
set -x ANTHROPIC_API_KEY «!anthropic»
=== code
public const string ApiKey = "«!tok40»";
=== code
const dbPassword = `«!pwq»`;
=== code
auth_token: "«!tok40»", # «svc»
=== tool_output
{"tool":"bash","input":{"command":"export GITHUB_TOKEN=«!ghp» && gh pr create --fill"}}
=== tool_output
C:\> setx GROQ_API_KEY "«!groq»"
SUCCESS: Specified value was saved.
=== tool_output
$ aws configure set aws_secret_access_key «!aws_secret» --profile «env»
=== tool_output
$ docker run -d --name «svc» -e POSTGRES_PASSWORD=«!pwa» -e POSTGRES_DB=«db» -p 5432:5432 postgres
=== tool_output
$ sshpass -p '«!pws»' ssh «user»@«ip» uptime
 10:21:07 up «n» days
=== tool_output
$ gh auth login --with-token <<< «!ghpat»
=== tool_output
$ heroku config:set SENDGRID_API_KEY=«!sendgrid» -a «svc»
Setting SENDGRID_API_KEY and restarting... done
=== tool_output
$ fly secrets set JWT_SECRET=«!hex64» DATABASE_URL=postgres://«user»:«!pwurl»@«host»/«db»
=== tool_output
$ npm config set //registry.npmjs.org/:_authToken «!npm»
=== tool_output
$ echo «!glpat» | docker login registry.«site» -u «user» --password-stdin
=== tool_output
$ openssl pkcs12 -export -in cert.pem -inkey key.pem -out a.p12 -passout pass:«!pwa»
=== tool_output
$ cat ~/.aws/credentials
[default]
aws_access_key_id=«aws_id»
aws_secret_access_key=«!aws_secret»
=== tool_output
$ grep -rn API_KEY .
./src/config.ts:«n»:export const API_KEY = "«!tok40»";
./README.md:«n»:set API_KEY first
=== tool_output
Started Application with args: [--spring.datasource.password=«!pwa», --server.port=8080]
=== tool_output
WebSocket connection to 'wss://«svc».«site»/ws?token=«!jwt»' failed
=== tool_output
requests.exceptions.HTTPError: 403 Client Error for url: https://api.«site»/v2?api_key=«!tok40»
=== curl_http
GET /api/me HTTP/2
host: «site»
cookie: theme=dark; auth_token=«!opaque»
=== curl_http
curl -s --user 'api:«!mailgun»' https://api.mailgun.net/v3/mg.«site»/messages -F to=a@«site»
=== chat_lang
Hier ist der API-Schlüssel: «!tok40»
=== chat_lang
voici la clé API : «!groq»
=== chat_lang
aquí tienes el token: «!ghp»
=== chat_lang
вот токен: «!glpat», запушь в «branch»
"""


NEGATIVE_FRAMES = r"""
=== prose
I forgot my password and the reset mail never arrives for «user»@«site».
=== prose
The password field in «file» should be of type password, not text.
=== prose
Do not commit the password; keep it in the vault of «svc».
=== prose
Which password policy do you want for «svc»? Twelve characters at least?
=== prose
The login page of «svc» asks for a user name and a password, then for a code.
=== prose
I would hash the password with argon2 before it is stored in «db».
=== prose
The token expired after «n» minutes, so the client of «svc» has to refresh it.
=== prose
Each request to «svc» costs about «n3» tokens, which is less than yesterday.
=== prose
The API key belongs in the environment, never in «file».
=== prose
Where do I get an API key for «prov»? I have an account already.
=== prose
Please rotate the «prov» key before Friday, the old one was shown on a screen share.
=== prose
Secret management: we use Vault for «env» and SOPS for everything else.
=== prose
«first» asked whether the secret is mounted as a file or as an environment variable.
=== prose
The key insight is that «svc» never needs the «db» table to be locked.
=== prose
The primary key of «db» is a bigint, the foreign key points at users.id.
=== prose
Authentication fails because the header is missing, see «file».
=== prose
I can't see your credentials and I don't need them for «svc».
=== prose
The secret to a fast build is a warm cache; «branch» took «n» seconds.
=== prose
Passwords are never logged: the formatter in «file» drops the field.
=== prose
Is the password wrong, or is the account of «user» locked?
=== prose
token bucket, leaky bucket, fixed window: which limiter fits «svc» best?
=== prose
The bearer of this token may read «db» but not write to it.
=== prose
Password reset links are valid for «n» minutes and can be used once.
=== prose
My key takeaway for «first»: delete the «db» cache, keep the tests.
=== prose
Without the passphrase the key can't be decrypted, so «svc» will not start.
=== prose
Let's store the refresh token in an httpOnly cookie and the access token in memory («svc»).
=== prose
Press any key to continue; the arrow keys move the cursor in «word» mode.
=== prose
The password: it is asked for at start-up, and «svc» forgets it after use.
=== prose
password
The single word above is what «first» typed into the search box.
=== prose
secret: don't tell «first» about the party on the 1«n»th floor.
=== prose
Token: a unit of text. The model reads about «n5» of them here.
=== prose
As for the API key: ask «first», he created the «prov» account.
=== prose
The password is stored in 1Password, in the vault "«word»".
=== prose
The password is wrong. Try again or ask «first».
=== prose
The password is required, must be at least «n» characters long and is never shown.
=== prose
Your password has been changed. If this wasn't you, «first», contact support.
=== prose
The secret key is read from the environment at start-up (see «file»).
=== prose
The token is invalid or expired, says «svc».
=== prose
The key is missing in the «db» map, so get() returns None.
=== prose
my api key is not working with «svc», any idea why?
=== prose
the token is passed in the Authorization header as usual, «svc» checks it
=== prose
What's the difference between a deploy token and a personal access token in «word»?
=== prose
I use passkeys instead of passwords now, «first» does too.
=== prose
Two-factor authentication sends a six digit code to «user»@«site».
=== prose
We should add secret scanning to the «branch» pipeline.
=== prose
An auth token is issued by auth-service/v«ver» and checked by «svc».
=== prose
He pressed the key-combination Ctrl+Shift+P and typed "reload" («first»).
=== prose
password/username validation lives in «file»:«n»
=== prose
The public/private-key pair was generated with ed25519; only the public half left «svc».
=== prose
Should the client_secret be optional for public clients in «svc»? With PKCE it should.
=== prose
pass: «n3», fail: 0, skipped: 2
=== prose
Tests pass=«n3» in «file», secret handling is untouched.
=== prose_lang
Ich habe das Passwort vergessen, kannst du es für «user» zurücksetzen?
=== prose_lang
Das Passwort ist falsch, sagt «svc».
=== prose_lang
Passwort: bitte niemals im Klartext in «file» speichern.
=== prose_lang
Das Passwort steht im Tresor, frag «first».
=== prose_lang
Der API-Schlüssel für «prov» ist abgelaufen, wir brauchen einen neuen.
=== prose_lang
Le mot de passe est incorrect, réessaie avec «user».
=== prose_lang
Mot de passe oublié ? Cliquez ici pour «svc».
=== prose_lang
Le mot de passe est obligatoire et doit contenir au moins «n» caractères.
=== prose_lang
La contraseña es incorrecta para el usuario «user».
=== prose_lang
¿Olvidaste tu contraseña? Escribe a soporte@«site».
=== prose_lang
La contraseña debe tener al menos «n» caracteres.
=== prose_lang
A senha é obrigatória no formulário de «svc».
=== prose_lang
Esqueci a senha do servidor «word», como redefinir?
=== prose_lang
La password è obbligatoria e viene cifrata in «file».
=== prose_lang
Het wachtwoord is verlopen, zegt «svc».
=== prose_lang
Wachtwoord vergeten? Mail naar help@«site».
=== prose_lang
Hasło jest wymagane i musi mieć co najmniej «n» znaków.
=== prose_lang
Zapomniałem hasła do «svc», jak je zresetować?
=== prose_lang
Пароль неверный, попробуйте ещё раз («svc»).
=== prose_lang
Пароль хранится в переменной окружения, смотри «file».
=== prose_lang
Забыли пароль? Напишите на help@«site».
=== prose_lang
Şifre yanlış, «svc» hata veriyor.
=== prose_lang
Şifrenizi mi unuttunuz? destek@«site» adresine yazın.
=== prose_lang
Lösenordet är för kort, minst «n» tecken krävs.
=== prose_lang
كلمة المرور غير صحيحة في «svc».
=== prose_lang
הסיסמה שגויה בשירות «svc».
=== prose_lang
पासवर्ड गलत है, «svc» लॉग देखें।
=== prose_lang
Mật khẩu không đúng, hãy thử lại với «svc».
=== prose_lang
Heslo je povinné a musí mít alespoň «n» znaků.
=== prose_lang
A jelszó hibás, nézd meg a «svc» naplóját.
=== prose_lang
Kata sandi salah, coba lagi di «svc».
=== cjk_prose
密码错误，请重新输入（«svc»）。
=== cjk_prose
请不要把密码写进«file»里。
=== cjk_prose
密码：必填，至少«n»位，包含字母和数字。
=== cjk_prose
这个token的有效期是«n»分钟，过期后要刷新。
=== cjk_prose
我忘记密码了，怎么重置«svc»的账户？
=== cjk_prose
密钥保存在环境变量OPENAI_API_KEY中，«svc»启动时读取。
=== cjk_prose
主键是id，外键指向users表，见«file»。
=== cjk_prose
パスワードを忘れた場合は、«site»の管理者に連絡してください。
=== cjk_prose
パスワードが間違っています（«svc»）。
=== cjk_prose
パスワードは«n»文字以上で入力してください。
=== cjk_prose
APIキーは環境変数から読み込みます。「«file»」を参照。
=== cjk_prose
비밀번호가 틀렸습니다. «svc» 로그를 확인하세요.
=== cjk_prose
비밀번호는 «n»자 이상이어야 합니다.
=== cjk_prose
API 키는 환경 변수에 저장하세요 («svc»).
=== cjk_prose
密碼欄位請用password型別，見«file»第«n»行
=== env_ref
client = OpenAI(api_key=os.environ["OPENAI_API_KEY"])  # «file»
=== env_ref
api_key = os.getenv("«PROV»_API_KEY")
=== env_ref
const token = process.env.«PROV»_TOKEN;
=== env_ref
const key = process.env.«PROV»_API_KEY ?? "";
=== env_ref
if (!process.env.JWT_SECRET) throw new Error("JWT_SECRET is not set in «env»");
=== env_ref
password: process.env.DB_PASSWORD, // «svc»
=== env_ref
DATABASE_URL=postgres://${DB_USER}:${DB_PASSWORD}@«host»:5432/«db»
=== env_ref
curl -H "Authorization: Bearer $«PROV»_TOKEN" https://api.«site»/v1/me
=== env_ref
curl -H "x-api-key: ${API_KEY}" "https://«svc».«site»/health"
=== env_ref
export «PROV»_API_KEY="$(pass show «word»/api)"
=== env_ref
PGPASSWORD="$DB_PASSWORD" psql -h «host» -U «user» «db»
=== env_ref
mysql -u «user» -p"$MYSQL_PASSWORD" «db» < schema.sql
=== env_ref
echo "$DOCKER_PASSWORD" | docker login -u "$DOCKER_USER" --password-stdin «site»
=== env_ref
environment:
  POSTGRES_PASSWORD: ${POSTGRES_PASSWORD}
  POSTGRES_DB: «db»
=== env_ref
environment:
  - MYSQL_ROOT_PASSWORD=${MYSQL_ROOT_PASSWORD:?not set}
  - MYSQL_DATABASE=«db»
=== env_ref
spring.datasource.password=${DB_PASSWORD}
spring.datasource.username=«user»
=== env_ref
token := os.Getenv("«PROV»_TOKEN")
if token == "" {
    log.Fatal("no token")
}
=== env_ref
let api_key = std::env::var("«PROV»_API_KEY").expect("api key is set");
=== env_ref
String password = System.getenv("DB_PASSWORD"); // «user»
=== env_ref
var key = Environment.GetEnvironmentVariable("«PROV»_API_KEY");
=== env_ref
$apiKey = getenv('«PROV»_API_KEY');
=== env_ref
'password' => env('DB_PASSWORD', ''),
'database' => env('DB_DATABASE', '«db»'),
=== env_ref
Stripe.api_key = ENV.fetch("STRIPE_SECRET_KEY") # «file»
=== env_ref
password: <%= ENV["DB_PASSWORD"] %>
database: «db»
=== env_ref
SECRET_KEY = config("SECRET_KEY")
DEBUG = config("DEBUG", cast=bool)  # «env»
=== env_ref
val token = System.getenv("«PROV»_TOKEN") ?: error("no token")
=== env_ref
let key = ProcessInfo.processInfo.environment["«PROV»_API_KEY"]
=== env_ref
$env:«PROV»_API_KEY | Out-Null
=== env_ref
secret_key_base: System.fetch_env!("SECRET_KEY_BASE"), # «svc»
=== env_ref
api_key = st.secrets["«PROV»_API_KEY"]
=== env_ref
"apiKey": "${env:«PROV»_API_KEY}",
=== env_ref
"env": { "GITHUB_TOKEN": "${input:github_token}", "REGION": "«region»" }
=== env_ref
password = keyring.get_password("«svc»", "«user»")
=== env_ref
const password = await vscode.secrets.get("«svc».password");
=== env_ref
password = getpass.getpass("Password for «user»: ")
=== env_ref
read -rsp "Password for «user»: " PASSWORD && echo
=== env_ref
API_KEY=$(gcloud secrets versions access latest --secret=«svc»-key)
=== env_ref
TOKEN=$(aws ecr get-login-password --region «region»)
=== env_ref
export VAULT_TOKEN=$(vault login -field=token -method=oidc role=«user»)
=== env_ref
import.meta.env.VITE_API_TOKEN is undefined in «file»
=== env_ref
settings.openai_api_key.get_secret_value()  # «file»
=== env_ref
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
@«word»:registry=https://npm.«site»
=== env_ref
git clone https://oauth2:${GITLAB_TOKEN}@gitlab.«site»/team/«svc».git
=== env_ref
redis://:${REDIS_PASSWORD}@«host»:6379/0
=== env_ref
[ -z "$API_SECRET" ] && echo "API_SECRET missing in «env»" && exit 1
=== env_ref
set PGPASSWORD=%DB_PASSWORD%
pg_dump -h «host» «db»
=== env_ref
auth: `Bearer ${session.accessToken}`, // «file»
=== env_ref
headers = {"Authorization": f"Bearer {token}", "X-Request-Id": "«uuid»"}
=== env_ref
dsn = f"postgresql://{user}:{password}@{host}:{port}/«db»"
=== env_ref
fmt.Sprintf("%s:%s@tcp(%s)/«db»", user, password, host)
=== placeholder
OPENAI_API_KEY=your-api-key-here
PORT=3«unit»
=== placeholder
«PROV»_API_KEY=<your-api-key>
=== placeholder
«PROV»_API_KEY=your_api_key
=== placeholder
DB_PASSWORD=changeme
DB_NAME=«db»
=== placeholder
DB_PASSWORD=CHANGE_ME
DB_HOST=«host»
=== placeholder
SECRET_KEY=
DB_NAME=«db»
=== placeholder
«PROV»_TOKEN=""
=== placeholder
password: ""  # «svc»
=== placeholder
# .env.example
ANTHROPIC_API_KEY=sk-ant-...
MODEL=claude-«word»
=== placeholder
OPENAI_API_KEY=sk-...
ORG=«word»
=== placeholder
STRIPE_SECRET_KEY=sk_test_xxxxxxxxxxxxxxxxxxxxxxxx
DOMAIN=«site»
=== placeholder
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
OWNER=«word»
=== placeholder
curl -H "Authorization: Bearer YOUR_API_KEY" https://api.«site»/v1
=== placeholder
curl -H "Authorization: Bearer <token>" https://api.«site»/v1/me
=== placeholder
curl -u username:password https://api.«site»/v1/«db»
=== placeholder
postgres://user:password@localhost:5432/«db»
=== placeholder
postgresql://<user>:<password>@<host>:5432/«db»
=== placeholder
mongodb+srv://<username>:<password>@cluster0.«sub».mongodb.net/
=== placeholder
mysql://USER:PASSWORD@HOST:3306/«db»
=== placeholder
client = Anthropic(api_key="YOUR_API_KEY")  # «first»
=== placeholder
api_key = "<REDACTED>"  # «file»
=== placeholder
api_key: [REDACTED]
svc: «svc»
=== placeholder
password = "***"  # was printed by «svc»
=== placeholder
DB_PASSWORD=********
DB_USER=«user»
=== placeholder
  "password": "REPLACE_ME",
  "user": "«user»"
=== placeholder
export «PROV»_API_KEY="insert-your-key-here"
=== placeholder
token: "xxx"  # fill in, «first»
=== placeholder
apiKey: 'YOUR-API-KEY', // from the console of «prov»
=== placeholder
"SMTP_PASS": "<app password>", "SMTP_USER": "«user»@«site»"
=== placeholder
https://hooks.slack.com/services/XXX/YYY/ZZZ is where «svc» posts to
=== placeholder
https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX («svc»)
=== placeholder
aws_secret_access_key = YOUR_SECRET_KEY
region = «region»
=== placeholder
-----BEGIN PRIVATE KEY-----
...
-----END PRIVATE KEY-----
goes into certs/«word».pem
=== placeholder
"private_key": "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n", "id": "«word»"
=== placeholder
jwt: eyJhbGciOi... (cut, from «svc»)
=== placeholder
Authorization: Bearer eyJ... («svc» log, shortened)
=== placeholder
password: {{ password }}
user: «user»
=== placeholder
password=%s user=«user»
=== placeholder
--password=<password> --user=«user»
=== placeholder
mysql -u root -p<your password> «db»
=== placeholder
ADMIN_PASSWORD=TODO
ADMIN_USER=«user»
=== placeholder
secret: null
name: «svc»
=== placeholder
token: undefined («svc»)
=== placeholder
密码：<你的密码>
用户名：«user»
=== placeholder
OPENAI_API_KEY=你的密钥
MODEL=«word»
=== placeholder
OPENAI_API_KEY=ここにAPIキーを入力
REGION=«region»
=== placeholder
PASSWORT=<hier eintragen>
BENUTZER=«user»
=== doc_key
The docs use AKIAIOSFODNN7EXAMPLE as access key id, in «region» too.
=== doc_key
aws_access_key_id = «doc_aws_id»
aws_secret_access_key = «doc_aws_secret»
region = «region»
=== doc_key
export AWS_ACCESS_KEY_ID=«doc_aws_id»
export AWS_DEFAULT_REGION=«region»
=== doc_key
export AWS_SECRET_ACCESS_KEY=«doc_aws_secret»
export AWS_REGION=«region»
=== doc_key
{"AccessKeyId": "«doc_aws_id»", "UserName": "«user»", "Status": "Active"}
=== doc_key
The jwt.io sample is «doc_jwt» and it says John Doe («first»).
=== doc_key
Authorization: Bearer «doc_jwt»
Host: «site»
=== doc_key
curl https://api.stripe.com/v1/charges -u «doc_stripe»: -d amount=2«n3»
=== doc_key
stripe.api_key = "«doc_stripe»"  # from the docs, «first»
=== doc_key
文档里的示例密钥是AKIAIOSFODNN7EXAMPLE，区域«region»
=== code_logic
const hashed = await bcrypt.hash(password, 1«n»);
=== code_logic
if not check_password_hash(user.password_hash, password):
    return jsonify({"error": "invalid credentials", "id": «n5»}), 401
=== code_logic
const token = jwt.sign({ sub: user.id }, secret, { expiresIn: "«n»m" });
=== code_logic
def login(username: str, password: str) -> Token:
    return self.client.post("/«svc»/login", username=username, password=password)
=== code_logic
user.password = hash_password(form.password.data)  # «file»
=== code_logic
token = tokenizer.decode(ids[«n»])
=== code_logic
tokens = re.findall(r"\w+", text)[:«n3»]
=== code_logic
while (token != null && token.type !== "EOF") { token = lexer.next(«n»); }
=== code_logic
secret, err := client.CoreV1().Secrets("«env»").Get(ctx, name, metav1.GetOptions{})
=== code_logic
const { password, ...rest } = user; // «file»
return rest;
=== code_logic
self.api_key = api_key or default_key("«svc»")
=== code_logic
password = request.form["password"]
username = request.form.get("username", "«user»")
=== code_logic
const apiKey = req.headers["x-api-key"]; // «svc»
=== code_logic
String token = request.getHeader("Authorization").substring(7); // «svc»
=== code_logic
let token = self.tokens.get(self.pos + «n»)?.clone();
=== code_logic
key = (row.user_id, row.created_at)
cache[key] = «n5»
=== code_logic
for key, value in sorted(data.items())[:«n»]:
    print(key, value)
=== code_logic
session.token = crypto.randomBytes(«n»).toString("hex");
=== code_logic
secret = secrets.token_urlsafe(«n»)
=== code_logic
openssl rand -base64 «n»
=== code_logic
password = "".join(random.choices(string.ascii_letters, k=«n»))
=== code_logic
private_key = ed25519.Ed25519PrivateKey.generate()  # «svc»
=== code_logic
const keyPair = await crypto.subtle.generateKey({ name: "ECDSA" }, true, ["sign"]); // «n»
=== code_logic
public function setPassword(string $password): void
{
    $this->password = password_hash($password, PASSWORD_BCRYPT, ['cost' => «n»]);
}
=== code_logic
before_action :authenticate_user!, except: [:new, :create] # «n»
has_secure_password
=== code_logic
@PasswordStrength(min = «n»)
private String password;
=== code_logic
const isValid = await argon2.verify(user.passwordHash, password); // «file»
=== code_logic
api_key = config["«svc»"]["api_key"]
=== code_logic
const [password, setPassword] = useState(""); // «word»
=== code_logic
<input type="password" name="password" minlength="«n»" autocomplete="new-password" required>
=== code_logic
<Input.Password placeholder="Password" value={password} onChange={onChange} maxLength={«n»} />
=== code_logic
csrf_token = generate_csrf()
response.set_cookie("lang", "en", max_age=«n5»)
=== code_logic
if (apiKey === undefined || apiKey.length < «n») return null;
=== code_logic
assert token.startswith("Bearer "), "bad header in «svc»"
=== code_logic
map.put("password", passwordEncoder.encode(dto.getPassword())); // «n»
=== code_logic
var secret = await secretClient.GetSecretAsync("«svc»-db");
=== code_logic
password := r.FormValue("password")
if len(password) < «n» {
    http.Error(w, "password too short", http.StatusBadRequest)
}
=== code_logic
token = Token(kind=TokenKind.IDENT, start=«n», end=«n3»)
=== code_logic
return await this.authService.refresh(refreshToken, «n»);
=== code_logic
redacted = re.sub(r"password=\S+", "password=***", line, count=«n»)
=== code_logic
const SECRET_PATTERN = /(api[_-]?key|secret|token)\s*[:=]\s*\S{«n»,}/gi;
=== code_logic
regex = r"AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36}"  # «file»
=== code_logic
del os.environ["«PROV»_API_KEY"]
=== code_logic
monkeypatch.delenv("«PROV»_TOKEN", raising=False)
=== code_logic
logger.info("token refreshed for %s", user.id, extra={"svc": "«svc»"})
=== code_logic
Authorization = "Bearer " + accessToken; // «svc»
=== code_logic
password = decrypt(row["password_enc"], key=load_key("«word»"))
=== code_logic
guard let token = keychain.get("«svc».token") else { return }
=== code_logic
val password by remember { mutableStateOf("") } // «word»
=== code_logic
token_count = sum(len(enc.encode(m["content"])) for m in messages) + «n»
=== code_logic
with open("/run/secrets/«svc»_password") as handle:
    password = handle.read().strip()
=== code_logic
client_secret=credentials.client_secret, client_id=credentials.client_id, n=«n»
=== code_logic
const accessToken = useSelector(selectAccessToken); // «file»
=== code_logic
pub fn with_api_key(mut self, api_key: impl Into<String>) -> Self { // «n»
    self.api_key = Some(api_key.into());
    self
}
=== code_logic
x = x + self.key_proj(hidden) * «n»
query, key, value = self.qkv(x).chunk(3, dim=-1)
=== code_logic
past_key_values = outputs.past_key_values  # layer «n»
=== code_logic
cancellationToken.ThrowIfCancellationRequested(); // «svc»
=== code_logic
public async Task<User> GetAsync(int id, CancellationToken token = default) // «n»
=== code_types
interface Credentials {
  username: string;
  password: string;
  «word»?: string;
}
=== code_types
type AuthState = { token: string | null; refreshToken?: string; «word»: boolean };
=== code_types
class Settings(BaseSettings):
    «word»: str = "x"
    openai_api_key: SecretStr
    db_password: str | None = None
=== code_types
@dataclass
class Login:
    user: str
    password: str = field(repr=False)
    attempts: int = «n»
=== code_types
type Config struct {
    APIKey   string `json:"api_key"`
    Password string `json:"password" env:"DB_PASSWORD"`
    Port     int    `default:"«n5»"`
}
=== code_types
pub struct Auth { pub token: String, pub secret: Option<String>, pub «word»: u32 }
=== code_types
const schema = z.object({ email: z.string().email(), password: z.string().min(«n») });
=== code_types
password: Joi.string().min(«n»).required(),
=== code_types
message LoginRequest {
  string username = 1;
  string password = 2;
  string «word» = 3;
}
=== code_types
type Mutation {
  login(email: String!, password: String!): AuthPayload!
  «word»(token: String!): Boolean!
}
=== code_types
data class LoginRequest(val username: String, val password: String, val «word»: Int)
=== code_types
record Credentials(string User, string Password, int «word»);
=== code_types
def connect(host: str, *, password: str | None = None, port: int = «n5») -> Connection: ...
=== code_types
export declare function getToken(options?: TokenOptions): Promise<string>; // v«ver»
=== code_types
enum TokenType { Access = "access", Refresh = "refresh", Reset = "reset", «word» = "«word»" }
=== code_types
"password": { "type": "string", "format": "password", "minLength": «n» }
=== code_types
securitySchemes:
  ApiKeyAuth:
    type: apiKey
    in: header
    name: X-«word»-Key
=== code_types
      properties:
        password:
          type: string
          description: the password of the «word» account
        token:
          type: string
=== code_types
field :password, :string, virtual: true, redact: true
field :«word», :integer
=== code_types
const defaults: Partial<Options> = { apiKey: undefined, retries: «n» };
=== schema_sql
CREATE TABLE users (
  id SERIAL PRIMARY KEY,
  email TEXT UNIQUE NOT NULL,
  password_hash VARCHAR(«n3») NOT NULL
);
=== schema_sql
ALTER TABLE «db» ADD COLUMN api_token VARCHAR(«n») NULL;
=== schema_sql
CREATE INDEX idx_«db»_token ON «db» (token);
=== schema_sql
SELECT id, password_hash FROM users WHERE email = $1 LIMIT «n»;
=== schema_sql
UPDATE users SET password = ? WHERE id = «n5»;
=== schema_sql
INSERT INTO sessions (token, user_id, expires_at) VALUES ($1, $2, now() + '«n» days');
=== schema_sql
ALTER TABLE «db» ADD CONSTRAINT fk_user FOREIGN KEY (user_id) REFERENCES users(id);
=== schema_sql
t.string :encrypted_password, null: false, default: ""
t.string :reset_password_token
t.integer :«word»
=== schema_sql
password = models.CharField(max_length=«n3»)
=== schema_sql
DROP TABLE IF EXISTS password_resets; -- «first»
=== schema_sql
 Column        | Type    | Nullable
---------------+---------+----------
 id            | bigint  | not null
 password_hash | text    | not null
 «word»        | integer |
=== schema_sql
$table->rememberToken();
$table->string('password', «n3»);
=== schema_sql
PRIMARY KEY (tenant_id, «word»_id), UNIQUE KEY uq_token (token(«n»))
=== hashes
commit «sha40»
Author: «first» <«user»@«site»>
Date:   Mon Jan 12 «clock» 2026 +0100

    Remove the password from the config
=== hashes
«sha7» Fix token refresh
«sha7» Add password reset form
«sha7» Bump «pkg» to «ver»
=== hashes
index «sha7»..«sha7» 100644
=== hashes
«sha256»  «svc»-«ver».tar.gz
=== hashes
«md5»  backup-«day».sql.gz
=== hashes
image: ghcr.io/«word»/«svc»@sha256:«sha256»
=== hashes
Digest: sha256:«sha256»
Status: Downloaded newer image for postgres:16
=== hashes
FROM python:3.11-slim@sha256:«sha256»
=== hashes
HEAD is now at «sha7» Rotate the API keys
=== hashes
From https://github.com/«word»/«svc»
   «sha7»..«sha7»  «branch» -> origin/«branch»
=== hashes
uses: actions/checkout@«sha40» # v4
=== hashes
<script src="https://cdn.«site»/a.js" integrity="«sri512»" crossorigin="anonymous"></script>
=== hashes
ETag: "«etag»"
Content-Length: «n5»
=== hashes
merge base is «sha40», so «n» commits to rebase
=== hashes
tree «sha40»
parent «sha40»
author «first» <«user»@«site»> «epoch» +0100
=== hashes
webpack output: main.«md5».js («n3» KiB), vendor.«md5».js
=== hashes
/_next/static/chunks/pages/login-«spanid».js loaded in «n» ms
=== hashes
assert sha256(data).hexdigest() == "«sha256»"
=== hashes
nix hash: sha256-«b64pub»=
=== hashes
cache key: node-modules-Linux-«sha256»
=== hashes
ipfs block sha1 «sha40» pinned by «user»
=== hashes
submodule vendor/«word» «sha40» (heads/main)
=== hashes
gpg: Signature made Mon 12 Jan 2026
gpg:                using RSA key «sha40»
gpg: Good signature from "«first» <«user»@«site»>"
=== hashes
SHA256:«b64pub» «user»@«site» (ED25519)
=== lockfile
    "node_modules/«pkg»": {
      "version": "«ver»",
      "resolved": "https://registry.npmjs.org/«pkg»/-/«pkg»-«ver».tgz",
      "integrity": "«sri512»",
=== lockfile
«pkg»@^«ver»:
  version "«ver»"
  resolved "https://registry.yarnpkg.com/«pkg»/-/«pkg»-«ver».tgz#«sha40»"
  integrity «sri512»
=== lockfile
js-tokens@^«ver»:
  version "«ver»"
  resolved "https://registry.yarnpkg.com/js-tokens/-/js-tokens-«ver».tgz#«sha40»"
=== lockfile
  /jsonwebtoken@«ver»:
    resolution: {integrity: «sri512»}
    engines: {node: '>=12'}
=== lockfile
[[package]]
name = "secrecy"
version = "«ver»"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "«sha256»"
=== lockfile
golang.org/x/crypto v0.«n».0 «goh1»
golang.org/x/crypto v0.«n».0/go.mod «goh1»
=== lockfile
«pkg»==«ver» \
    --hash=sha256:«sha256» \
    --hash=sha256:«sha256»
=== lockfile
    {file = "«pkg»-«ver»-py3-none-any.whl", hash = "sha256:«sha256»"},
=== lockfile
  "content-hash": "«md5»",
  "packages": ["«pkg»"]
=== lockfile
provider "registry.terraform.io/hashicorp/aws" {
  version = "5.«n».0"
  hashes = [
    "«goh1»",
    "zh:«sha256»",
  ]
}
=== lockfile
      "source": {"type": "git", "reference": "«sha40»"},
=== lockfile
    passport-jwt (4.0.«n»)
    devise-token-auth («ver»)
=== ids
request_id=«uuid» status=200 path=/login
=== ids
x-amzn-requestid: «uuid»
x-amz-id-2: «amzid»
=== ids
traceparent: 00-«traceid»-«spanid»-01
=== ids
{"id": "«uuid»", "name": "«svc»", "createdAt": "«day»T«clock»Z"}
=== ids
arn:aws:secretsmanager:«region»:«acct»:secret:«svc»/db-«sub»
=== ids
arn:aws:iam::«acct»:role/«svc»-«env»
=== ids
arn:aws:kms:«region»:«acct»:key/«uuid»
=== ids
subnet «vpc», instance «inst», account «acct»
=== ids
CONTAINER ID   IMAGE        STATUS
«cid»   postgres:16  Up «n» hours
=== ids
"client_id": "«uuid»", "tenant_id": "«uuid»"
=== ids
GOOGLE_CLIENT_ID=«acct»-«md5».apps.googleusercontent.com
=== ids
chatcmpl-«sub»«sub»«sub» finished, «n3» tokens
=== ids
"id": "msg_01«tok24»", "type": "message", "role": "assistant"
=== ids
{"type": "tool_use", "id": "toolu_01«tok24»", "name": "read_file"}
=== ids
"tool_call_id": "call_«tok24»", "content": "ok «n»"
=== ids
cus_«tok24» paid invoice in_«tok24»
=== ids
subscription sub_1«tok24» has price price_1«tok24»
=== ids
TWILIO_ACCOUNT_SID=«acsid»
=== ids
run «uuid» was started by «user»
=== ids
CLOUDFLARE_ZONE_ID=«md5»
CLOUDFLARE_ACCOUNT_ID=«md5»
=== ids
nextPageToken: null, items: «n», kind: secretmanager#list
=== ids
https://docs.google.com/document/d/1«tok40»/edit is the spec, «first»
=== ids
https://www.figma.com/file/«tok24»/«word»-design?node-id=«n»
=== ids
pod/«svc»-«pod» 1/1 Running 0 «n»h
=== ids
job_id: «traceid» queue: default retries: «n»
=== ids
dataset row «uuid» has key user_id and value «n5»
=== ids
k8s uid: «uuid» resourceVersion: "«n5»«n3»"
=== ids
build «n5» of «svc» («sha40») was deployed to «env»
=== ids
 at sun.misc.Unsafe.park(Native Method) - parking to wait for <0x00000007«sha7»>
=== ids
Segfault at 0x7f3a«sha7» in libcrypto.so.3 (pid «n5»)
=== ids
blob:https://«site»/«uuid»
=== ids
correlationId=«uuid»; userId=«n5»; event=PASSWORD_CHANGED
=== ids
s3://«word»-backups/«day»/«uuid».parquet
=== public_key
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«b64pub» «user»@«word»
=== public_key
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ«rsapub» «user»@«site»
=== public_key
github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«b64pub»
«ip» ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«b64pub»
=== public_key
-----BEGIN CERTIFICATE-----
«certbody»
-----END CERTIFICATE-----
=== public_key
-----BEGIN PUBLIC KEY-----
«certbody»
-----END PUBLIC KEY-----
=== public_key
-----BEGIN CERTIFICATE REQUEST-----
«certbody»
-----END CERTIFICATE REQUEST-----
=== public_key
[Peer]
PublicKey = «wg»
AllowedIPs = 10.8.0.«n»/32
=== public_key
The key fingerprint is:
SHA256:«b64pub» «user»@«word»
=== public_key
Your identification has been saved in /home/«user»/.ssh/id_ed25519
Your public key has been saved in /home/«user»/.ssh/id_ed25519.pub
=== public_key
resource "aws_key_pair" "deploy" {
  key_name   = "«word»"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«b64pub» «user»"
}
=== public_key
certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t«azure_key»
server: https://«ip»:6443
=== public_key
      "x5t": "«x5t»", "kty": "RSA", "use": "sig", "e": "AQAB"
=== url_plain
git remote -v
origin  git@github.com:«word»/«svc».git (fetch)
origin  git@github.com:«word»/«svc».git (push)
=== url_plain
origin  https://github.com/«word»/«svc».git (push)
=== url_plain
https://«user»@bitbucket.org/«word»/«svc».git
=== url_plain
postgres://«user»@«host»:5432/«db»
=== url_plain
redis://«host»:6379/«n»
=== url_plain
mongodb://«host»:27017/«db»
=== url_plain
jdbc:postgresql://«host»:5432/«db»?ssl=true
=== url_plain
https://«site»/reset-password?lang=de&step=«n»
=== url_plain
https://«site»/docs/authentication#api-keys-v«n»
=== url_plain
open http://localhost:3«unit»/oauth/callback and sign in
=== url_plain
https://login.microsoftonline.com/«uuid»/oauth2/v2.0/token
=== url_plain
https://console.aws.amazon.com/iam/home?region=«region»#/security_credentials
=== url_plain
https://api.«site»/v1/tokens?page=«n»&sort=-created
=== url_plain
ssh -i ~/.ssh/«word».pem «user»@«ip»
=== url_plain
scp -P 22«n» «user»@«ip»:/srv/«svc»/app.log .
=== url_plain
http://proxy.«site»:3128 with no password for «user»
=== url_plain
https://github.com/«word»/«svc»/blob/«sha40»/«file»#L«n»
=== url_plain
https://cdn.«site»/img/«uuid».webp?w=6«n»&q=75
=== url_plain
npm install https://github.com/«word»/passport-token/tarball/v«ver»
=== url_plain
http://[::1]:8«unit»/password/new
=== config_plain
max_tokens: 4«unit»
temperature: 0.«n»
model: gpt-4o
=== config_plain
{"model": "claude-sonnet-4-5", "max_tokens": «n5», "stop_sequences": ["END"]}
=== config_plain
ACCESS_TOKEN_EXPIRE_MINUTES=«n»
JWT_ALGORITHM=HS256
=== config_plain
JWT_EXPIRES_IN=«n»d
REFRESH_TOKEN_TTL=«n5»
=== config_plain
PASSWORD_MIN_LENGTH=«n»
PASSWORD_RESET_TIMEOUT=3600
=== config_plain
TOKENIZERS_PARALLELISM=false
OMP_NUM_THREADS=«n»
=== config_plain
AUTH_ENABLED=true
AUTH_PROVIDER=«word»
TOKEN_HEADER=X-Auth
=== config_plain
requirepass is commented out in redis.conf line «n3»
=== config_plain
PasswordAuthentication no
PubkeyAuthentication yes
Port 22«n»
=== config_plain
PermitRootLogin prohibit-password
MaxAuthTries «n»
=== config_plain
ssl_certificate     /etc/letsencrypt/live/«site»/fullchain.pem;
ssl_certificate_key /etc/letsencrypt/live/«site»/privkey.pem;
=== config_plain
POSTGRES_PASSWORD_FILE=/run/secrets/«db»_password
=== config_plain
secrets:
  db_password:
    file: ./secrets/«db»_password.txt
=== config_plain
secrets:
  - «db»_password
  - «svc»_token
=== config_plain
GOOGLE_APPLICATION_CREDENTIALS=/etc/keys/«word»-sa.json
=== config_plain
AWS_PROFILE=«env»
AWS_REGION=«region»
=== config_plain
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
]  # «word»
=== config_plain
spring.security.oauth2.resourceserver.jwt.issuer-uri=https://auth.«site»/realms/«word»
=== config_plain
"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>", "vocab_size": «n5»
=== config_plain
"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>", "model_max_length": «n5»
=== config_plain
pad_token_id: «n5», eos_token_id: «n3»
=== config_plain
keybinding: { "key": "ctrl+shift+«n»", "command": "«word».reload" }
=== config_plain
hotkey = "cmd+alt+k"
key = "«word»"
=== config_plain
SECRET_NAME=«svc»-db
KEY_VAULT_URL=https://«word».vault.azure.net/
=== config_plain
password_encryption = scram-sha-256
max_connections = «n3»
=== config_plain
host    «db»    «user»    10.0.0.0/8    scram-sha-256
=== config_plain
credential.helper=osxkeychain
user.email=«user»@«site»
=== config_plain
mfa_token_required: true
session_duration: «n5»
=== config_plain
sort_key: created_at
partition_key: «db»_id
=== config_plain
--color-token-primary: #«n3»«n3»;
--spacing-key: «n»px;
=== config_plain
"scripts": { "token": "node scripts/token.js", "secret-scan": "gitleaks detect", "v": "«ver»" }
=== config_plain
DISABLE_PASSWORD_LOGIN=true
OIDC_CLIENT_ID=«svc»
=== iac_ref
env:
- name: DB_PASSWORD
  valueFrom:
    secretKeyRef:
      name: «svc»-secrets
      key: db-password
=== iac_ref
variable "db_password" {
  type        = string
  sensitive   = true
  description = "password of «user»"
}
=== iac_ref
password = var.db_password
username = "«user»"
=== iac_ref
password = random_password.«word».result
=== iac_ref
resource "random_password" "«word»" {
  length  = «n»
  special = false
}
=== iac_ref
secret_id = aws_secretsmanager_secret.«word».id
=== iac_ref
data "aws_ssm_parameter" "token" {
  name = "/«svc»/«env»/token"
}
=== iac_ref
api_token = data.vault_generic_secret.«word».data["token"]
=== iac_ref
password: {{ .Values.postgresql.auth.password | quote }}
user: «user»
=== iac_ref
password: "{{ vault_«db»_password }}"
=== iac_ref
ansible_become_password: "{{ lookup('env', 'BECOME_PASS') }}"
ansible_user: «user»
=== iac_ref
existingSecret: «svc»-credentials
existingSecretPasswordKey: password
=== iac_ref
envFrom:
  - secretRef:
      name: «svc»-env
=== iac_ref
  + password                 = (sensitive value)
  + username                 = "«user»"
=== iac_ref
  ~ secret_string = (sensitive value)
  # aws_secretsmanager_secret_version.«word» will be updated in-place
=== iac_ref
db_password = <sensitive>
db_host = "«host»"
=== iac_ref
Resources:
  Db:
    Properties:
      MasterUsername: «user»
      MasterUserPassword: !Ref DbPassword
=== iac_ref
MasterUserPassword: '{{resolve:secretsmanager:«svc»-db:SecretString:password}}'
=== iac_ref
imagePullSecrets:
  - name: «word»-regcred
=== iac_ref
serviceAccountName: «svc»
automountServiceAccountToken: false
=== iac_ref
volumes:
- name: «word»-tls
  secret:
    secretName: «svc»-tls
=== iac_ref
kind: ExternalSecret
spec:
  secretStoreRef: { name: «word», kind: ClusterSecretStore }
  data:
  - secretKey: password
    remoteRef: { key: «svc»/db, property: password }
=== iac_ref
adminPassword: '@Microsoft.KeyVault(SecretUri=https://«word».vault.azure.net/secrets/db/)'
=== iac_ref
param adminPassword string
@secure()
// «word»
=== ci_ref
env:
  NPM_TOKEN: ${{ secrets.NPM_TOKEN }}
  NODE_ENV: «env»
=== ci_ref
with:
  token: ${{ secrets.GITHUB_TOKEN }}
  ref: «branch»
=== ci_ref
password: ${{ secrets.DOCKERHUB_TOKEN }}
username: «user»
=== ci_ref
  «PROV»_API_KEY: $(«PROV»_API_KEY)
=== ci_ref
withCredentials([string(credentialsId: '«svc»-token', variable: 'TOKEN')]) {
  sh './deploy.sh'
}
=== ci_ref
script:
  - docker login -u "$CI_REGISTRY_USER" -p "$CI_REGISTRY_PASSWORD" $CI_REGISTRY
  - ./build.sh «word»
=== ci_ref
  env:
    NODE_AUTH_TOKEN: ***
    CI_BRANCH: «branch»
=== ci_ref
permissions:
  id-token: write
  contents: read
# «word»
=== ci_ref
GITHUB_TOKEN Permissions
  Contents: read
  Metadata: read
Prepare workflow «word»
=== ci_ref
gh secret set «PROV»_API_KEY --env «env» < key.txt
=== ci_ref
gh secret list
«PROV»_TOKEN  Updated «day»
DB_PASSWORD   Updated «day»
=== ci_ref
Error: Input required and not supplied: token (job «word», attempt «n»)
=== ci_ref
context: «word»-secrets
parameters: { api_key: << parameters.api_key >> }
=== tool_output_plain
$ kubectl get secrets -n «env»
NAME             TYPE     DATA   AGE
«svc»-secrets    Opaque   4      «n»d
=== tool_output_plain
$ kubectl describe secret «svc»
Data
====
password:  «n» bytes
token:     «n3» bytes
=== tool_output_plain
$ aws secretsmanager list-secrets --query 'SecretList[].Name'
["«svc»/db", "«svc»/token"]
=== tool_output_plain
$ aws sts get-caller-identity
{"UserId": "AIDA«word»", "Account": "«acct»", "Arn": "arn:aws:iam::«acct»:user/«user»"}
=== tool_output_plain
$ vault kv list secret/
Keys
----
«svc»/
«word»/
=== tool_output_plain
$ gh auth status
github.com
  Logged in to github.com account «user» (keyring)
  Token: gho_************************************
  Token scopes: 'gist', 'repo'
=== tool_output_plain
$ ls -la ~/.ssh
-rw------- 1 «user» «user»  4«n» Jan 12 10:00 id_ed25519
-rw-r--r-- 1 «user» «user»  1«n» Jan 12 10:00 id_ed25519.pub
=== tool_output_plain
$ grep -rn "password" src | head -3
src/auth.py:«n»:def check_password(raw: str) -> bool:
src/auth.py:«n3»:    password = normalize(password)
=== tool_output_plain
src/token.ts(«n»,«n»): error TS2339: Property 'token' does not exist on type 'Session'.
=== tool_output_plain
error: missing field `api_key` at line «n» column «n»
=== tool_output_plain
KeyError: '«PROV»_API_KEY'
  File "«file»", line «n», in <module>
=== tool_output_plain
pydantic_core.ValidationError: 1 validation error for Settings
openai_api_key
  Field required [type=missing, input_value={'«word»': 1}, input_type=dict]
=== tool_output_plain
psql: error: FATAL:  password authentication failed for user "«user»"
=== tool_output_plain
ERROR 1045 (28000): Access denied for user '«user»'@'«ip»' (using password: YES)
=== tool_output_plain
fatal: Authentication failed for 'https://github.com/«word»/«svc».git/'
remote: Support for password authentication was removed.
=== tool_output_plain
«user»@«ip»: Permission denied (publickey,password).
=== tool_output_plain
openai.OpenAIError: The api_key client option must be set (in «file»)
=== tool_output_plain
{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"n":«n»}
=== tool_output_plain
Error: Incorrect API key provided: sk-proj-********************. Request «uuid»
=== tool_output_plain
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON at «file»:«n»
=== tool_output_plain
jwt.exceptions.ExpiredSignatureError: Signature has expired («file»:«n»)
=== tool_output_plain
KeyError: 'token'
During handling of line «n3» another exception occurred
=== tool_output_plain
 Test Files  «n» passed
 ✓ auth.test.ts > rejects a wrong password («n» ms)
 ✓ auth.test.ts > refreshes the token
=== tool_output_plain
PASSED tests/test_auth.py::test_password_is_hashed[«word»]
PASSED tests/test_auth.py::test_token_expires
=== tool_output_plain
$ docker ps --format '{{.Names}} {{.Image}}'
«svc» ghcr.io/«word»/«svc»:«ver»
=== tool_output_plain
$ psql -c '\d tokens'
 token_id | uuid | not null
 «word»   | text |
=== tool_output_plain
$ printenv | cut -d= -f1
HOME
OPENAI_API_KEY
«PROV»_TOKEN
=== tool_output_plain
gitleaks: no leaks found, scanned «n5» bytes in «ms» ms
=== tool_output_plain
Warning: password is deprecated, use auth_token instead («pkg» «ver»)
=== tool_output_plain
Enter passphrase for key '/home/«user»/.ssh/id_ed25519':
=== tool_output_plain
[sudo] password for «user»:
Sorry, try again.
=== tool_output_plain
$ ssh «user»@«ip»
«user»@«ip»'s password:
Permission denied, please try again.
=== tool_output_plain
Username for 'https://github.com': «user»
Password for 'https://«user»@github.com':
=== tool_output_plain
$ rg -c token
«file»:«n»
README.md:3
=== tool_output_plain
0«sha7»  7f 45 4c 46 02 01 01 00  00 00 00 00 00 00 00 00  |.ELF............|
=== tool_output_plain
 M «file»
?? .env.local
?? secrets/README.md
=== masked
STRIPE_SECRET_KEY=sk_live_****************
STRIPE_ACCOUNT=«word»
=== masked
token: ghp_************************************ (user «user»)
=== masked
DB_PASSWORD: ●●●●●●●●
DB_USER: «user»
=== masked
password=[FILTERED] user=«user» controller=sessions
=== masked
"password": "[redacted]", "user": "«user»"
=== masked
Authorization: Bearer [REDACTED]
Host: «site»
=== masked
api_key=<hidden> svc=«svc»
=== masked
postgres://«user»:***@«host»:5432/«db»
=== masked
postgresql+asyncpg://«user»:[REDACTED]@«host»/«db»
=== masked
https://x-access-token:***@github.com/«word»/«svc».git
=== masked
Parameters: {"email"=>"«user»@«site»", "password"=>"[FILTERED]", "commit"=>"Log in"}
=== masked
access_key     ****************«sub» shared-credentials-file
region         «region»
=== masked
SecretStr('**********') in settings of «svc»
=== masked
ANTHROPIC_API_KEY=sk-ant-xxxxxxxxxxxxxxxx
NAME=«word»
=== i18n_ui
{ "login.password": "Passwort", "login.user": "Benutzername", "v": «n» }
=== i18n_ui
"password": "Mot de passe", "forgot": "Mot de passe oublié ?", "id": «n»
=== i18n_ui
password: "Contraseña"
submit: "Entrar («word»)"
=== i18n_ui
"passwordLabel": "パスワード", "tokenLabel": "トークン", "order": «n»
=== i18n_ui
"password": "密码", "confirmPassword": "确认密码", "order": «n»
=== i18n_ui
msgid "Password"
msgstr "Hasło"
#: «file»:«n»
=== i18n_ui
<label for="password">Password</label> <!-- «word» -->
=== i18n_ui
<string name="password_hint">Enter your password</string> <!-- «n» -->
=== i18n_ui
placeholder="Enter your API key" id="«word»"
=== i18n_ui
errors.password = "Password is too short (minimum is «n» characters)"
=== i18n_ui
"invalid_token": "The token is invalid or has expired.", "code": «n»
=== i18n_ui
title: 'Reset password', subtitle: 'We will mail «user» a link'
=== i18n_ui
await page.getByLabel('Password').click(); // «n»
=== i18n_ui
cy.get('[data-test=password]').should('be.visible') // «word»
=== i18n_ui
await page.fill("#password", process.env.E2E_PASSWORD!); // «word»
=== http_plain
HTTP/1.1 401 Unauthorized
WWW-Authenticate: Bearer realm="«word»", error="invalid_token"
=== http_plain
HTTP/1.1 403 Forbidden
{"error":"missing API key","request":"«uuid»"}
=== http_plain
Access-Control-Allow-Headers: Authorization, Content-Type, X-Api-Key
Access-Control-Max-Age: «n5»
=== http_plain
vary: Authorization, Accept-Encoding
etag: W/"«spanid»"
=== http_plain
POST /api/auth/login 200 in «n» ms
POST /api/auth/refresh 401 in «n» ms
=== http_plain
«ip» - - [12/Jan/2026:«clock» +0000] "POST /password/reset HTTP/1.1" 302 «n3»
=== http_plain
{"token_type": "Bearer", "expires_in": «n5», "scope": "read write"}
=== http_plain
{"grant_types_supported": ["authorization_code", "refresh_token"], "n": «n»}
=== http_plain
x-ratelimit-remaining-tokens: «n5»
x-ratelimit-limit-requests: «n3»
=== http_plain
proxy_set_header Authorization $http_authorization; # «svc»
=== http_plain
Authorization: Basic <base64(user:password)>
Host: «site»
=== http_plain
Strict-Transport-Security: max-age=«n5»000; includeSubDomains
=== cli_help
  -p, --password PASSWORD   password of the account (default: ask) [«word»]
=== cli_help
Usage: «word» login [--token TOKEN] [--api-key KEY] [--host HOST]
=== cli_help
  --token string   the API token, may be given as $«PROV»_TOKEN
=== cli_help
parser.add_argument("--password", help="password of «word»", default=None)
=== cli_help
@click.option("--api-key", envvar="«PROV»_API_KEY", required=True)
=== cli_help
«word» auth token create --name ci --ttl «n»h
=== cli_help
docker login --username «user» --password-stdin registry.«site»
=== cli_help
mysql -u «user» -p -h «host» «db»
=== cli_help
psql -U «user» -W -h «host» -d «db»
=== cli_help
ssh-keygen -t ed25519 -C "«user»@«site»" -f ~/.ssh/id_«word»
=== cli_help
openssl genrsa -out «word».key 4096
=== cli_help
openssl req -new -key «word».key -out «word».csr -subj "/CN=«site»"
=== cli_help
kubectl create secret generic «svc» --from-file=password=./password.txt -n «env»
=== cli_help
kubectl create secret generic «svc» --from-env-file=.env.«env»
=== cli_help
htpasswd -c /etc/nginx/.htpasswd «user»
=== cli_help
passwd «user» && chage -l «user»
=== cli_help
gcloud auth application-default login --project «word»-«n3»
=== cli_help
az keyvault secret show --vault-name «word» --name db-password --query value -o tsv
=== cli_help
npx wrangler secret put «PROV»_API_KEY --env «env»
=== cli_help
fly secrets set DATABASE_URL="$DATABASE_URL" -a «svc»
=== cli_help
heroku config:get DATABASE_URL -a «svc»
=== cli_help
op read "op://«word»/«svc»/password"
=== cli_help
npm token list && npm whoami --registry https://npm.«site»
=== tests_fake
client = Client(api_key="fake-api-key")  # «file»
=== tests_fake
monkeypatch.setenv("OPENAI_API_KEY", "dummy")  # «word»
=== tests_fake
expect(screen.getByText("Wrong password")).toBeInTheDocument(); // «n»
=== tests_fake
it("rejects a token without a subject", async () => { // «n»
=== tests_fake
def test_password_is_required(client: Client) -> None:  # «word»
    assert client.post("/login", json={"user": "«user»"}).status_code == 422
=== tests_fake
mock_get_token.assert_called_once_with("«svc»", scope="read")
=== tests_fake
expect(user.password).toBeUndefined(); // «word»
=== tests_fake
assert "password" not in response.json()["«word»"]
=== log_plain
[«day» «clock»] INFO  «svc» user «user» logged in with password
=== log_plain
[«day» «clock»] WARN  «svc» token expired for user=«n5», refreshing
=== log_plain
[«day» «clock»] ERROR «svc» password check failed attempts=«n» ip=«ip»
=== log_plain
time="«day»T«clock»Z" level=info msg="secret synced" name=«svc»-secrets
=== log_plain
{"level":"warn","msg":"api key missing","svc":"«svc»","ts":«epoch»}
=== log_plain
sshd[«n5»]: Failed password for «user» from «ip» port «n5» ssh2
=== log_plain
sshd[«n5»]: Accepted publickey for «user» from «ip»: ED25519 SHA256:«b64pub»
=== log_plain
I0112 10:00:00 secret.go:«n3»] Caches populated for *v1.Secret from object-"«svc»"
=== log_plain
auth=ok user=«user» method=token latency=«ms»ms
=== log_plain
[vite] env variable VITE_API_KEY is not defined, page «word»
=== log_plain
Token refresh scheduled in «n» minutes for tenant «uuid»
=== log_plain
celery@«word» ready, broker amqp://guest:**@rabbitmq:5672// (pid «n5»)
=== llm_usage
"usage": {"prompt_tokens": «n5», "completion_tokens": «n3», "total_tokens": 1«n5»}
=== llm_usage
"input_tokens": «n5», "output_tokens": «n3», "cache_read_input_tokens": «n5»
=== llm_usage
tokens: «n5» in / «n3» out, cost $0.«n»
=== llm_usage
max_new_tokens=«n3», pad_token_id=tokenizer.eos_token_id
=== llm_usage
tokenizer = AutoTokenizer.from_pretrained("«word»/«word»-7b", use_fast=True, n=«n»)
=== llm_usage
Context left: «n5» tokens until auto-compact
=== llm_usage
num_key_value_heads: 8, hidden_size: 4«unit», key_dim: «n»
=== llm_usage
special_tokens_map = {"cls_token": "[CLS]", "sep_token": "[SEP]", "n": «n»}
=== docs_md
## Authentication

Pass your API key in the `X-Api-Key` header. Keys of «word» start with `lk_`.
=== docs_md
| Variable | Default | Meaning |
|---|---|---|
| `DB_PASSWORD` | none | password of the «db» database |
=== docs_md
- [ ] rotate the password of «user»
- [x] move the token out of «file»
=== docs_md
1. Create a token under **Settings > Developer > Tokens**.
2. Export it as `«PROV»_TOKEN`.
3. Run `make «word»`.
=== docs_md
> **Note**: the password is only shown once. Store it in «word».
=== docs_md
GitHub tokens begin with `ghp_`, OpenAI keys with `sk-`, Slack bots with `xoxb-` («first»).
=== docs_md
Add `password`, `secret` and `token` to the filter list in `«file»`.
=== docs_md
The `Authorization` header has the form `Bearer <token>`, see page «n».
=== docs_md
See [Managing secrets](https://docs.«site»/secrets) and [API keys](https://docs.«site»/keys).
=== docs_md
@param password the plain password, @param «word» the cost, @return the hash
=== docs_md
:param str token: token of the session, None for the «word» user
=== docs_md
CHANGELOG v«ver»: password reset no longer reveals whether an account exists
=== docs_md
feat(auth): accept personal access tokens (#«n3»)
=== docs_md
Closes #«n3»: "Secret rotation fails when the key id has a dash"
=== media
<img src="data:image/png;base64,«b64png»" alt="«word»">
=== media
background: url(data:image/png;base64,«b64png»);
=== media
"image": {"type": "base64", "media_type": "image/png", "data": "«b64png»"}
=== media
//# sourceMappingURL=login.«sha7».js.map
=== media
d="M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-«n»S17.52 2 12 2z" fill="#«n3»«n3»"
=== media
!function(e,t){var n=t.token,r=t.key;e.exports={token:n,key:r,id:«n5»}}(module,window);
=== media
{"cells": [{"cell_type": "code", "execution_count": «n», "id": "«sub»", "outputs": []}]}
=== long_turn
«long»
The password is read from the vault, «file» only holds the path.
«long»
=== long_turn
«long»
  DB_PASSWORD: ${DB_PASSWORD}
«long»
=== long_turn
«long»
-OPENAI_API_KEY = os.environ["OPENAI_API_KEY"]
+OPENAI_API_KEY = settings.openai_api_key
«long»
=== long_turn
«long»
Digest: sha256:«sha256»
«long»
=== long_turn
«long»
export «PROV»_API_KEY=<your-key>
«long»
=== long_turn
«long»
这里不需要密码，用«svc»的角色就可以了。
«long»
=== long_turn
«long»
    const { token } = await this.auth.login(username, password);
«long»
=== long_turn
«long»
-----BEGIN CERTIFICATE-----
«certbody»
-----END CERTIFICATE-----
«long»
=== long_turn
«long»
=== multi_turn
assistant: Do you have an API key for «prov»?
user: not yet, how do I get one?
assistant: Open the console and create one.
=== multi_turn
Assistant: What is the password of the database?
User: it's in 1Password under «word», I won't paste it here
=== multi_turn
Agent: Which token should I use?
User: the one in $«PROV»_TOKEN
=== multi_turn
user: did you print the password anywhere?
assistant: No. I only read `«file»`, which refers to the variable by name.
=== multi_turn
助手：需要数据库密码吗？
用户：不需要，«svc»用的是IAM认证
=== multi_turn
Human: what's the key?
Assistant: The sort key is created_at, the partition key is «db»_id.
=== code_keyed
'password' => 'required|string|min:«n»|confirmed',
=== code_keyed
password: hashedPassword, // «word»
=== code_keyed
const user = await prisma.user.create({ data: { email, password: hash, id: «n» } });
=== code_keyed
secret: config.jwt.secret, // «svc»
=== code_keyed
secretOrKey: configService.get<string>('JWT_SECRET'), // «file»
=== code_keyed
password=self.password, username=self.username, port=«n5»
=== code_keyed
connect(host, user=user, password=password, db="«db»")
=== code_keyed
login(token=token, retries=«n»)
=== code_keyed
api_key=settings.OPENAI_API_KEY.get_secret_value(), n=«n»
=== code_keyed
token: this.state.token, page: «n»
=== code_keyed
{ token: data.token, secret: opts.clientSecret, id: «n» }
=== code_keyed
password=None, token=None, timeout=«n»
=== code_keyed
password: bool = False,
port: int = «n5»,
=== code_keyed
private readonly apiKey: string = this.config.get("«word».apiKey");
=== code_keyed
apiKey := cfg.Providers["«word»"].APIKey
=== code_keyed
auth_token = response.json()["auth_token"]  # «svc»
=== code_keyed
const authToken = generateAuthToken(userId, «n»);
=== code_keyed
client_secret = get_secret("projects/«word»/secrets/client-secret")
=== code_keyed
private_key = load_pem_private_key(data, password=None)  # «file»
=== code_keyed
privateKey: fs.readFileSync("certs/«word».pem"),
=== code_keyed
access_token = create_access_token(data={"sub": user.username}, minutes=«n»)
=== code_keyed
TokenService tokenService = new TokenServiceImpl(clock, «n»);
=== code_keyed
AbstractAuthenticationTokenProcessingFilterFactoryBean failed in «svc»
=== code_keyed
password_confirmation: params[:user][:password_confirmation], # «word»
=== code_keyed
secret_key = Fernet.generate_key()  # «word»
=== code_keyed
PASSWORD_FIELD = "password_field"  # «file»
=== code_keyed
const TOKEN_KEY = "access_token"; // localStorage, «word»
=== code_keyed
localStorage.setItem("«word»_token", token);
=== code_keyed
SECRET_NAME = "projects/«word»/secrets/db-password/versions/latest"
=== code_keyed
data-testid="password-input-«word»" aria-label="Password"
=== lookalike
git checkout -b feature/ACME-1«n3»-add-password-reset-token
=== lookalike
docs/risk-assessment-2026-report-final-version-«word»-«n».pdf
=== lookalike
class="mask-image-linear-gradient-to-bottom-«word» task-list-item"
=== lookalike
pip install scikit-learn sk-video disk-cache-«word»
=== lookalike
prometheus-kube-prometheus-operator-«pod» is ready
=== lookalike
.Login_passwordField__«sub» { margin: «n»px; }
=== lookalike
import { useTokenRefresh } from "@/hooks/use-token-refresh-«word»";
=== lookalike
org.springframework.security.authentication.UsernamePasswordAuthenticationToken@«sha7»
=== lookalike
Authorization: Basic auth is switched off for «svc»
=== lookalike
Bearer authentication is described in RFC 6750, section «n»
=== lookalike
key=value pairs are separated by commas, e.g. region=«region»,env=«env»
=== lookalike
/home/«user»/projects/«svc»/node_modules/.pnpm/jsonwebtoken@«ver»/node_modules/jsonwebtoken/sign.js
=== lookalike
aHR0cHM is what base64 of a URL starts with, says «first»
=== lookalike
test_login_with_wrong_password_returns_401_and_no_token_«word»
=== lookalike
ERR_OSSL_EVP_UNSUPPORTED at Hash («file»:«n»)
=== lookalike
X-Api-Key, X-Auth-Token and X-Csrf-Token are allowed headers in «svc»
"""

_LEET = str.maketrans("aeio", "4310")

OPENINGS = (
    "Here is what I found:\n\n",
    "Sure, from the repository:\n\n",
    "I ran it again just now.\n\n",
    "ok look at this\n",
    "This is the relevant part:\n\n",
    "Step 3 of 5.\n\n",
    "User: can you explain this?\n\n",
    "From yesterday's session:\n\n",
)
CLOSINGS = (
    "\n\nLet me know whether I should go on.",
    "\n\nDoes that look right to you?",
    "\n\nI will run the tests next.",
    "\nthanks!",
    "\n\nThat is all of it.",
    "\n\nNothing else in the file changed.",
)


def _spec(spec: str, rng: Random) -> str:
    def run(match: re.Match[str]) -> str:
        alphabet = _ALPHABETS[match[1]]
        return "".join(rng.choice(alphabet) for _ in range(int(match[2])))

    return _RUN.sub(run, spec)


def _b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _jwt(rng: Random) -> str:
    head = json.dumps({"alg": "HS256", "typ": "JWT"}, separators=(",", ":"))
    claims = {
        "sub": _spec("{h:8}-{h:4}-4{h:3}", rng),
        "iat": 1790000000 + rng.randrange(10**6),
        "exp": 1791000000 + rng.randrange(10**6),
        "role": rng.choice(("service_role", "admin", "user")),
    }
    body = json.dumps(claims, separators=(",", ":"))
    return f"{_b64url(head.encode())}.{_b64url(body.encode())}.{_spec('{b:42}', rng)}k"


def _chat_password(rng: Random) -> str:
    """What people make up and type: words, years, marks."""
    first, second, third = rng.sample(CHOICES["word"].split(), 3)
    mark = rng.choice("!@-_*+#$%")
    number = rng.randrange(100, 9999)
    shapes = (
        f"{first.title()}{mark}{second.title()}{number}",
        f"{first.title()}{rng.randrange(2019, 2027)}!",
        f"{first.translate(_LEET)}{mark}{second.title()}{number % 100}",
        f"{first}-{second}-{third}-{number}",
        _mixed(rng, rng.randrange(9, 15), "!@*-_"),
    )
    return rng.choice(shapes)


def _mixed(rng: Random, size: int, marks: str) -> str:
    """Letters, digits and marks as a password generator mixes them; the ends are not marks."""
    inner = [rng.choice(_UPPER), rng.choice(_LOWER), *rng.choices(marks, k=1 + size // 8)]
    inner += rng.choices(_ALNUM, k=size - 2 - len(inner))
    rng.shuffle(inner)
    return rng.choice(_LOWER) + "".join(inner) + rng.choice(string.digits)


def _config_password(rng: Random) -> str:
    if rng.random() < 0.2:
        return f"{rng.choice(CHOICES['word'].split()).title()}{rng.randrange(2019, 2027)}!"
    return _mixed(rng, rng.randrange(10, 21), "!@%^*-_+=?.")


def _plain_password(rng: Random) -> str:
    if rng.random() < 0.25:
        return f"{rng.choice(CHOICES['word'].split())}{rng.randrange(1000, 9999)}"
    return _mixed(rng, rng.randrange(12, 33), _ALNUM)


def _url_password(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.2:
        return _mixed(rng, 7, "_") + rng.choice(("%40", "%23", "%21", "%2F")) + _mixed(rng, 6, "9")
    if kind < 0.4:
        return _mixed(rng, rng.randrange(10, 20), "-_.!~")
    return _plain_password(rng)


def _phrase(rng: Random) -> str:
    words = rng.sample(CHOICES["word"].split(), 4)
    return " ".join([*words, str(rng.randrange(100, 9999))])


def _lines(spec: str, count: int, last: str, rng: Random) -> str:
    return "\n".join([*(_spec(spec, rng) for _ in range(count)), _spec(last, rng)])


def _pem(rng: Random) -> str:
    return (
        "MIIEow"
        + _lines("{B:58}", 1, "{B:64}", rng)
        + "\n"
        + _lines("{B:64}", rng.randrange(6, 14), "{B:38}==", rng)
    )


def _openssh(rng: Random) -> str:
    return (
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAA"
        + _lines("{B:14}", 0, "{B:14}", rng)
        + "\n"
        + _lines("{B:70}", 3, "{B:34}=", rng)
    )


def _base64_of(make: Callable[[Random], str]) -> Callable[[Random], str]:
    return lambda rng: base64.b64encode(make(rng).encode()).decode()


def _long(rng: Random) -> str:
    size = rng.randrange(1000, 2400)
    out: list[str] = []
    while sum(map(len, out)) < size:
        out.append(_fill(rng.choice(LONG_LINES), rng)[0])
    return "\n".join(out)


MAKERS: dict[str, Callable[[Random], str]] = {
    "jwt": _jwt,
    "pw": _chat_password,
    "pws": _config_password,
    "pwa": _plain_password,
    "pwq": lambda rng: _mixed(rng, rng.randrange(10, 21), "#$&%()^~!@"),
    "pwurl": _url_password,
    "phrase": _phrase,
    "pem": _pem,
    "pem1": lambda rng: _pem(rng).replace("\n", "\\n"),
    "openssh": _openssh,
    "pgp": lambda rng: (
        "lQOYBG" + _lines("{B:58}", 0, "{B:58}", rng) + "\n" + _lines("{B:64}", 7, "{B:30}=", rng)
    ),
    "certbody": lambda rng: (
        "MIIDdz" + _lines("{B:58}", 0, "{B:58}", rng) + "\n" + _lines("{B:64}", 5, "{B:38}==", rng)
    ),
    "b64pw": _base64_of(_chat_password),
    "basic": _base64_of(lambda rng: f"deploy:{_chat_password(rng)}"),
    "b64png": lambda rng: "iVBORw0KGgoAAAANSUhEUgAA" + _spec("{B:120}", rng) + "RU5ErkJggg==",
    "long": _long,
}


def _make(name: str, rng: Random) -> str:
    if name in MAKERS:
        return MAKERS[name](rng)
    if name in SAMPLES:
        return SAMPLES[name]
    if name in CHOICES:
        return rng.choice(CHOICES[name].split())
    return _spec(SPECS[name], rng)


def _fill(frame: str, rng: Random) -> tuple[str, tuple[str, ...]]:
    """The frame with its slots filled, and the secrets among them."""
    kept: dict[str, str] = {}
    secrets: list[str] = []
    out: list[str] = []
    end = 0
    for match in _SLOT.finditer(frame):
        secret, name, tag = match.groups()
        value = kept.get(f"{name}:{tag}", "") or _make(name, rng)
        if tag or name in CHOICES or name in ("ip", "ver"):
            kept[f"{name}:{tag}"] = value
        if secret:
            secrets += _parts(value)
        lead = frame[frame.rfind("\n", 0, match.start()) + 1 : match.start()]
        if not lead.strip(" +"):
            value = value.replace("\n", "\n" + lead)
        out += [frame[end : match.start()], value]
        end = match.end()
    return "".join([*out, frame[end:]]), tuple(dict.fromkeys(secrets))


def _parts(value: str) -> list[str]:
    """What of a secret must not be left: each of its lines, whole and the last half."""
    parts: list[str] = []
    for line in re.split(r"\n|\\n", value):
        parts.append(line)
        if len(line) >= 16:
            parts.append(line[len(line) // 2 :])
    return parts


def _frames(block: str) -> list[tuple[str, str]]:
    """(class, frame) of a block in which a line '=== class' opens each frame."""
    frames: list[tuple[str, str]] = []
    for piece in block.replace("¬\n", "").split("\n=== ")[1:]:
        name, _, frame = piece.partition("\n")
        frames.append((name.strip(), frame.rstrip("\n")))
    return frames


def _dress(text: str, turn: int, rng: Random) -> str:
    """The first text of a shape is bare, the second has an opening, the third a closing."""
    if turn == 1:
        return rng.choice(OPENINGS) + text
    if turn == 2:
        return text + rng.choice(CLOSINGS)
    return text


def positives(seed: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """(class, text, secrets): none of the secrets may be left in what is stored."""
    rng = Random(seed)
    return [
        (name, *_fill(frame, rng))
        for name, frame in _frames(POSITIVE_FRAMES)
        for _ in range(PER_POSITIVE)
    ]


def negatives(seed: int) -> list[tuple[str, str]]:
    """(class, text): each must be stored as it is."""
    rng = Random(seed + 1)
    return [
        (name, _dress(_fill(frame, rng)[0], turn, rng))
        for name, frame in _frames(NEGATIVE_FRAMES)
        for turn in range(PER_NEGATIVE)
    ]


def check(seed: int) -> None:
    """Raise where the set breaks its own rules."""
    found = positives(seed)
    clean = negatives(seed)
    if found != positives(seed) or clean != negatives(seed):
        raise ValueError("not the same lists for the same seed")
    for name, text, secrets in found:
        if not secrets or not all(secret and secret in text for secret in secrets):
            raise ValueError(f"{name}: a secret is missing from its text: {text!r}")
    texts = [text for _, text, _ in found] + [text for _, text in clean]
    double = [text for text, count in Counter(texts).items() if count > 1]
    if double:
        raise ValueError(f"{len(double)} duplicates, e.g. {double[0]!r}")
    if any(mark in text for text in texts for mark in "«»¬"):
        raise ValueError("an unfilled slot")
    shapes = _frames(POSITIVE_FRAMES), _frames(NEGATIVE_FRAMES)
    if any(len(set(frames)) != len(frames) for frames in shapes):
        raise ValueError("the same frame twice")
    if len(found) < 400 or len(clean) < 1200 or len(shapes[0]) < 200 or len(shapes[1]) < 400:
        raise ValueError("too few")


def main() -> None:
    """Check the set and print its counts."""
    seed = 4
    check(seed)
    found = positives(seed)
    clean = negatives(seed)
    print(f"positives {len(found)} texts of {len(_frames(POSITIVE_FRAMES))} shapes")
    for name, count in sorted(Counter(name for name, _, _ in found).items()):
        print(f"  {count:5} {name}")
    print(f"negatives {len(clean)} texts of {len(_frames(NEGATIVE_FRAMES))} shapes")
    for name, count in sorted(Counter(name for name, _ in clean).items()):
        print(f"  {count:5} {name}")


if __name__ == "__main__":
    main()
