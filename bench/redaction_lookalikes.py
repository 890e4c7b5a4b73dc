"""Texts that look like secrets and hold none: each must come out of redaction unchanged.

`<<name>>` stands for a random part, see `PARTS`.
"""

import base64
import re
import string
from random import Random

from bench.redaction_formats import ALNUM, BASE64, HEX, Maker, body

_WORDS = "order cart user session token index batch cache worker queue report layout theme invoice".split()
_ACTS = "load save parse build fetch render merge check resolve update handle create".split()


def _camel(rng: Random) -> str:
    return rng.choice(_ACTS) + "".join(rng.choice(_WORDS).title() for _ in range(4))


def _snake(rng: Random) -> str:
    return "_".join([rng.choice(_ACTS), *(rng.choice(_WORDS) for _ in range(3))])


def _path(rng: Random) -> str:
    folders = "/".join(rng.choice(_WORDS) + str(rng.randrange(9)) for _ in range(4))
    return f"/home/mara/work/{folders}/{_snake(rng)}.py"


def _uuid(rng: Random) -> str:
    return "-".join(body(rng, HEX, length) for length in (8, 4, 4, 4, 12))


PARTS: dict[str, Maker] = {
    "hex7": lambda rng: body(rng, HEX, 7),
    "hex12": lambda rng: body(rng, HEX, 12),
    "hex32": lambda rng: body(rng, HEX, 32),
    "hex40": lambda rng: body(rng, HEX, 40),
    "hex64": lambda rng: body(rng, HEX, 64),
    "uuid": _uuid,
    "sha512": lambda rng: body(rng, BASE64, 86) + "==",
    "sha256": lambda rng: body(rng, BASE64, 43) + "=",
    "b64": lambda rng: base64.b64encode(rng.randbytes(240)).decode(),
    "number": lambda rng: str(rng.randrange(100, 10**6)),
    "big": lambda rng: str(rng.randrange(10**11, 10**13)),
    "digit": lambda rng: str(rng.randrange(1, 10)),
    "word": lambda rng: rng.choice(_WORDS),
    "camel": _camel,
    "snake": _snake,
    "constant": lambda rng: _snake(rng).upper(),
    "path": _path,
    "dna": lambda rng: body(rng, "ACGT", 120),
    "colour": lambda rng: body(rng, HEX, 6),
    "phone": lambda rng: f"+49 30 {rng.randrange(10**6, 10**7)}",
    "ulid": lambda rng: "01J" + body(rng, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23),
    "nano": lambda rng: body(rng, ALNUM, 10),
    "rsakey": lambda rng: "AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + body(rng, BASE64, 340),
    "edkey": lambda rng: "AAAAC3NzaC1lZDI1NTE5AAAAI" + body(rng, BASE64, 43),
    "npub": lambda rng: "npub1" + body(rng, string.ascii_lowercase + "023456789", 58),
    "base58": lambda rng: "1" + body(rng, ALNUM.replace("0", ""), 33),
}


def filled(rng: Random, text: str) -> str:
    """`text` with its random parts."""
    return re.sub(r"<<(\w+)>>", lambda found: PARTS[found[1]](rng), text)


LOOKALIKES: dict[str, tuple[str, ...]] = {
    "word": (
        "password", "The password.", "I forgot my password.", "Reset password", "password?",
        "What is the token for?", "secret", "api key", "Is the secret rotated?", "Password:",
        "Enter password: ", "[sudo] password for mara: ", "api_key:", "token=", "PASSWORD=",
        "passphrase for key '/home/mara/.ssh/id_ed25519':",
    ),
    "reference": (
        "API_KEY=${API_KEY}", "password: ${DB_PASSWORD}", 'token = os.environ["GITHUB_TOKEN"]',
        "const key = process.env.STRIPE_SECRET_KEY;", "password: {{ vault_db_password }}",
        "token: ${{ secrets.GITHUB_TOKEN }}", "apiKey: import.meta.env.VITE_API_KEY,",
        'password = os.getenv("DB_PASSWORD", "")', "export TOKEN=$(cat /run/secrets/token)",
        "PGPASSWORD=$PGPASSWORD psql -h db", "password_file: /run/secrets/db_password",
        "curl -H \"Authorization: Bearer $TOKEN\" https://api.example.com",
        "postgres://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/shop", "secret := viper.GetString(\"jwt.secret\")",
        "password: !vault db_password", "password=%DB_PASSWORD%", "secretKeyRef: {name: db, key: password}",
        "var.db_password", 'password = var.db_password', "api_key=settings.openai_api_key",
        "token: process.env['NPM_TOKEN'] ?? ''", "password = config['database']['password']",
        "//registry.npmjs.org/:_authToken=${NPM_TOKEN}", "SECRET_KEY = env('SECRET_KEY')",
        "password: op://vault/database/password", "const secret = await getSecret('db/password');",
        "mysql -u root -p\"$MYSQL_ROOT_PASSWORD\" shop", "password = getpass.getpass()",
        "headers = {'Authorization': f'Bearer {token}'}", "Authorization: Bearer ${accessToken}",
        "token = data.aws_secretsmanager_secret_version.db.secret_string",
    ),
    "placeholder": (
        "OPENAI_API_KEY=sk-...", "API_KEY=YOUR_API_KEY", "password: xxxxxxxx", "token=<your-token>",
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
        "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "ANTHROPIC_API_KEY=sk-ant-...",
        "password: ********", "password=***", "PASSWORD=<password>", "api_key = \"your-api-key-here\"",
        "token: \"\"", "secret: null", "password: [REDACTED]", "SLACK_TOKEN=xoxb-your-token",
        "Authorization: Bearer <token>", "Authorization: Bearer YOUR_TOKEN", "postgres://user:password@host/db",
        "https://user:pass@example.com/", "postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
        "sk_live_...", "xoxb-XXXXXXXXXXXX-XXXXXXXXXXXX", "api_key: ...", "token: TODO", "-p <password>",
        "password = \"\"", "client_secret: REPLACE_ME", "SECRET_KEY=change-me-please",
        "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "keys begin with `ghp_`, `gho_` or `github_pat_`",
        "the prefix `sk-proj-` is new", "JWT tokens start with eyJ", "-----BEGIN PRIVATE KEY-----",
        "mysql://<user>:<password>@<host>/<db>", "Bearer {token}",
    ),
    "sentence en": (
        "The password is stored as a hash.", "The password is required.", "Your password must be at least 12 characters.",
        "The token is invalid.", "The token expired yesterday.", "The API key is missing from the request.",
        "Is the password correct?", "I changed the password field to a hidden one.", "password authentication failed for user \"app\"",
        "The secret is to cache the result.", "Secret santa is on Thursday.", "The key is that we sort first.",
        "My password manager is KeePassXC.", "Tokens are counted by the model, 4 characters each.",
        "The password: it has to be changed every 90 days.", "Password reset mails go out through Postmark.",
        "token bucket: refills 10 per second", "The password was rotated on Monday.", "We use passwordless login.",
        "The secret key is generated at startup and kept in memory.", "The passphrase is asked for on the terminal.",
        "The password is the same as last time, look into the vault.", "The key is in the vault under harbor/staging.",
        "credentials are read from the environment", "Set the password to something long.", "Secret: never ask for it twice.",
        "Never write your password in a ticket.", "the token is passed in the header, the secret is not",
        "Use password hashing with argon2id, not bcrypt.", "password: required, string, minimum 8",
        "Change the password to a passphrase instead.", "a password is only as good as where it lies",
    ),
    "sentence de": (
        "Mein Passwort ist weg.", "Das Passwort ist falsch.", "Das Passwort ist abgelaufen, bitte ändern.",
        "Ich habe das Passwort vergessen.", "Das Kennwort muss mindestens zwölf Zeichen haben.",
        "Der Token ist ungültig.", "Das Passwort wird gehasht gespeichert.", "Passwort ändern",
        "Passwort: mindestens acht Zeichen", "Der Schlüssel ist im Tresor.", "Das Passwort lautet anders als gedacht.",
        "Passwortwechsel am Freitag um 18 Uhr", "Das Geheimnis ist gute Vorbereitung.", "Zugangsdaten liegen im Tresor.",
    ),
    "sentence cjk": (
        "密码是必填项。", "密码错误，请重试", "忘记密码了怎么办？", "密码长度不能少于八位。", "请输入密码：",
        "令牌已过期", "密码已经加密保存。", "我的密码管理器是 KeePassXC", "修改密码", "密钥保存在环境变量里。",
        "パスワードは8文字以上で入力してください。", "パスワードを忘れた場合", "パスワードが間違っています",
        "トークンの有効期限が切れました", "パスワードは必須です", "APIキーは環境変数に保存します。",
        "パスワードはハッシュ化されます", "비밀번호를 잊어버렸어요", "비밀번호는 8자 이상이어야 합니다",
        "密码是用 bcrypt 哈希的", "訂單服務用的是 PostgreSQL 17，快取用 Valkey。",
    ),
    "sentence es": (
        "La contraseña es obligatoria.", "Olvidé mi contraseña.", "La contraseña es incorrecta.",
        "La contraseña debe tener ocho caracteres.", "La clave es ordenar primero.", "El token es inválido.",
        "Mi contraseña es demasiado corta.", "Cambiar contraseña", "La clave primaria es un entero.",
        "Le mot de passe est obligatoire.", "La password è sbagliata.", "A senha está incorreta.",
    ),
    "git": (
        "commit <<hex40>>", "Merge commit '<<hex40>>' into main", "git diff <<hex7>>..<<hex7>>", "fixed in <<hex7>>",
        "git cherry-pick <<hex40>>", "index <<hex7>>..<<hex7>> 100644", "https://github.com/acme/shop/commit/<<hex40>>",
        "HEAD is now at <<hex7>> Fix rounding of taxes", "uses: actions/checkout@<<hex40>>",
        "<<hex40>> refs/heads/main", "git log <<hex12>>...<<hex12>> --oneline", "tree <<hex40>>\nparent <<hex40>>",
        "rev = \"<<hex40>>\"", "pick <<hex7>> Add token table",
    ),
    "hash": (
        '"integrity": "sha512-<<sha512>>",', "resolved \"https://registry.npmjs.org/a/-/a-1.0.0.tgz#<<hex40>>\"",
        "--hash=sha256:<<hex64>>", "image: shop@sha256:<<hex64>>", "golang.org/x/text v0.14.0 h1:<<sha256>>",
        "md5: <<hex32>>", "sha256sum: <<hex64>>  shop.tar.gz", "ETag: \"<<hex32>>\"", "ETag: W/\"<<hex12>>-5e1\"",
        "checksum = \"<<hex64>>\"", "<script integrity=\"sha384-<<sha512>>\">", "If-None-Match: \"<<hex40>>\"",
        "content-hash = \"<<hex64>>\"", "Container ID: containerd://<<hex64>>", "SHA256:<<sha256>>",
        "hash=<<hex64>>", "app.<<hex12>>.js", "Digest: sha-256=<<sha256>>", "fingerprint <<hex40>>",
        "block <<hex64>> mined", "0x<<hex40>>", "tx: 0x<<hex64>>",
    ),
    "id": (
        "<<uuid>>", "request_id=<<uuid>>", "user <<uuid>> not found", "order_id: <<big>>", "id: <<ulid>>",
        "trace_id=<<hex32>> span_id=<<hex12>>", "X-Request-Id: <<uuid>>", "/api/orders/<<uuid>>/items",
        "arn:aws:iam::<<big>>:role/deploy", "subscription <<uuid>>", "traceparent: 00-<<hex32>>-<<hex12>>ab12-01",
        "build #<<number>> of <<hex40>>", "client_id: <<uuid>>", "tenant: <<uuid>>", "account <<big>>",
        "session <<nano>> closed", "msg_<<nano>>Kq", "pod/web-<<hex7>>-<<hex7>>", "key=<<word>>-<<number>>",
        "AC<<hex32>>", "price_1<<nano>>", "cus_<<nano>>Gh", "token_count=<<number>>", "Idempotency-Key: <<uuid>>",
        "cache key: user:<<number>>:orders:<<digit>>", "primary key: order_<<number>>",
    ),
    "public key": (
        "ssh-rsa <<rsakey>> mara@laptop", "ssh-ed25519 <<edkey>> mara@laptop",
        "-----BEGIN PUBLIC KEY-----\n<<b64>>\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\n<<b64>>\n-----END CERTIFICATE-----", "<<npub>>", "PublicKey = <<sha256>>",
        "github.com ssh-ed25519 <<edkey>>", "SHA256:<<sha256>> mara@laptop (ED25519)",
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n<<b64>>\n-----END PGP PUBLIC KEY BLOCK-----",
        "publishable: pk_live_ keys may be public", "address <<base58>>",
    ),
    "code": (
        "def check_password(password: str, hashed: bytes) -> bool:", "password: str | None = None", "token: Token",
        "const token = await createToken(user);", "password=password", "api_key=api_key,", "secret = get_secret(name)",
        "self.token = token", "if (password !== confirmPassword) return;", "token = next(tokens)", "password: string;",
        "interface Login { user: string; password: string }", "password VARCHAR(255) NOT NULL", "tokens = text.split()",
        "<input type=\"password\" name=\"password\" placeholder=\"Password\">", "const { token, user } = useAuth();",
        "password = models.CharField(max_length=128)", "token = self.<<snake>>(request)", "key = lambda row: row.id",
        "password = form.cleaned_data['password']", "return jwt.encode(payload, secret, algorithm=\"HS256\")",
        "passwordHash: await argon2.hash(password),", "token_type = TokenType.BEARER", "func NewToken(secret []byte) string {",
        "secret: SecretStr = Field(...)", "password = SecretStr(password)", "raise ValueError(\"password too short\")",
        "def __init__(self, api_key: str, *, timeout: float = 10.0) -> None:", "apiKey: z.string().min(1),",
        "token = tokenizer.decode(ids)", "auth: AuthService,", "password: Annotated[str, Form()],", "pass",
        "token = request.headers.get(\"X-Auth-Token\")", "max_tokens=4096", "pad_token_id=tokenizer.eos_token_id",
        "secretName: web-tls", "ssh_pwauth: false", "PasswordAuthentication no", "primary_key=True", "sort_key=<<snake>>",
        "password = generate_password(length=24)", "private_key_path = \"<<path>>\"", "label = t('login.password.label')",
        "let password = req.body.password;", "assert password == other.password", "private final TokenStore tokenStore;",
        "token: vscode.CancellationToken", "this.password = this.<<camel>>();", "password: 'Passwort',",
    ),
    "identifier": (
        "<<camel>>", "<<snake>>", "<<constant>>", "com.example.<<word>>.<<camel>>Factory", "call <<camel>>(<<snake>>)",
        "tests/unit/test_<<snake>>.py::test_<<snake>>_<<snake>>", "class <<camel>>AbstractSingletonProxyFactoryBean",
        "--<<word>>-<<word>>-<<word>>-<<word>>", "feature/<<word>>-<<number>>-<<word>>-<<word>>", "_ZN4core3fmt9Formatter<<number>>E",
        "git checkout -b fix/<<word>>-token-<<number>>", "sk-<<word>>-layout-<<word>>", "task-<<word>>-<<number>>",
    ),
    "path": (
        "<<path>>", "open(\"<<path>>\")", "~/.ssh/id_ed25519", "C:\\Users\\mara\\AppData\\Local\\Programs\\tool.exe",
        "node_modules/.pnpm/@babel+core@7.26.0/node_modules/@babel/core/lib/index.js", "/run/secrets/db_password",
        "File \"<<path>>\", line <<number>>, in <<snake>>", "s3://backups/2026/11/<<number>>.tar.zst", "./config/secrets.yml",
        "/usr/lib/x86_64-linux-gnu/libssl.so.3", "https://docs.example.com/guide/<<word>>/<<word>>#<<word>>-tokens",
        "secrets/<<word>>/password.txt", "password_path=/etc/app/password", "see docs/api-key-rotation.md",
    ),
    "url": (
        "https://example.com/<<word>>?page=<<digit>>&sort=asc", "git@github.com:acme/shop.git", "http://localhost:8080/@vite/client",
        "postgres://localhost:5432/shop", "postgres://app@db.example.com/shop", "https://www.npmjs.com/package/@acme/ui",
        "redis://cache:6379/0", "https://example.com/a:b@c", "mailto:mara@example.com", "https://youtu.be/<<nano>>x",
        "https://example.com/reset-password", "https://figma.com/file/<<nano>>Ab/Shop?node-id=12-345",
        "https://medium.com/@mara/why-tokens-<<hex12>>", "wss://example.com/socket?v=<<digit>>", "ssh://git@example.com:2222/a.git",
        "https://example.com/search?q=password+reset", "https://docs.google.com/document/d/1<<nano>><<nano>><<nano>><<nano>>/edit",
    ),
    "log": (
        "2026-11-02T08:<<digit>>1:00Z INFO auth: token refreshed for user <<number>>",
        "sshd[<<number>>]: Failed password for invalid user admin from 203.0.113.7 port 51234 ssh2",
        "sshd[<<number>>]: Accepted password for mara from 203.0.113.7 port 51234 ssh2", "WARN token expired, retrying in <<digit>>s",
        "[info] POST /login 200 <<number>>ms", "FATAL:  password authentication failed for user \"app\"",
        "ERROR: invalid api key (status 401, request <<uuid>>)", "prompt tokens: <<number>>, completion tokens: <<number>>",
        "level=error msg=\"secret not found\" namespace=prod name=db", "auth: method=password user=mara result=ok",
        "npm error code E401 Incorrect or missing password.", "Token usage: total=<<number>> input=<<number>>",
        "secret/db-credentials created", "password changed for mara", "kex: algorithm: curve25519-sha256",
        "audit: token=absent ip=203.0.113.9", "Bearer token missing", "key exchange: ecdh-sha2-nistp256",
    ),
    "stack": (
        "at <<camel>> (webpack-internal:///./src/<<word>>.ts:<<number>>:<<digit>>)",
        "java.lang.IllegalStateException: token must not be null\n\tat com.example.auth.TokenFilter.doFilter(TokenFilter.java:<<digit>>4)",
        "KeyError: 'password'", "TypeError: Cannot read properties of undefined (reading 'token')",
        "asyncpg.exceptions.InvalidPasswordError: password authentication failed for user \"postgres\"",
        "thread 'main' panicked at src/main.rs:<<number>>: secret missing", "pydantic: api_key: Field required",
        "openai.AuthenticationError: Error code: 401 - Incorrect API key provided",
    ),
    "data": (
        "data:image/png;base64,<<b64>>", "background: url(data:font/woff2;base64,<<b64>>)", "<<dna>>", ">seq1\n<<dna>>\n<<dna>>",
        "#<<colour>>", "color: #<<colour>>; border: 1px solid #<<colour>>", "<<phone>>", "call me at <<phone>>", "2026-11-30T07:16:46+00:00",
        "IBAN-Prüfung: zwei Ziffern", "v<<digit>>.<<digit>>.<<digit>>-rc.<<digit>>+build.<<number>>", "192.0.2.17, 2001:db8::8a2e:370:7334",
        "52.5200, 13.4050", "MAC 00:1b:44:11:3a:b7", "ISBN 978-3-16-148410-0", "3.14159265358979323846264338327950288",
        "!function(e,t){var n=<<camel>>,r=e.<<camel>>;for(var o=0;o<t.length;o++)n(t[o],r)}(window,[<<number>>]);",
        "iVBORw0KGgoAAAANSUhEUgAA<<b64>>", "[<<number>>, <<number>>, <<big>>, <<digit>>]", "M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2z",
        "The test card is 4242 4242 4242 4242.", "order 4<<big>>", "00000000-0000-0000-0000-000000000000", "Lorem ipsum dolor sit amet, consectetur adipiscing elit",
        "\\u5bc6\\u7801\\u662f", "SPDX-License-Identifier: Apache-2.0", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "0123456789abcdef0123456789abcdef",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "----------------------------------------",
    ),
    "config": (
        "max_tokens: 4096", "token_limit: <<number>>", "password_min_length: 12", "secret_rotation_days: 90", "tokenizer: cl100k_base",
        "PASSWORD_HASHERS = [\"argon2\"]", "auth: none", "password: true", "api_key_header: X-Api-Key", "key: value", "foreign_key: order_id",
        "token_endpoint: https://auth.example.com/oauth/token", "grant_type=password", "auth_method = \"token\"", "key_prefix: shop:",
        "ssh_key: ~/.ssh/id_ed25519.pub", "secret: db-credentials", "tokens: <<number>>", "TOKEN_TTL=3600", "password-store: gnome-libsecret",
        "- name: Rotate the password", "keybindings: {save: ctrl+s}", "session_timeout=1800", "cookie: SameSite=Lax; Secure",
        "access_token_lifetime: 15m", "Cookie: theme=dark; lang=de", "Authorization: Bearer", "WWW-Authenticate: Basic realm=\"shop\"",
        "credential.helper=osxkeychain", "SECRETS_BACKEND=vault", "USE_AUTH_TOKEN=false",
    ),
}
