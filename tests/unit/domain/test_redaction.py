"""Secrets are replaced before the first write (F108, J6); every secret here is made up."""

import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_memory.domain import redaction
from agents_memory.domain.redaction import Redacted, redact

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BECH32 = "023456789acdefghjklmnpqrstuvwxyz"


def made_up(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


JWT = f"eyJ{made_up(33)}.eyJ{made_up(80)}.{made_up(43, ALNUM + '-_')}"
PEM_BODY = (
    "\n".join(made_up(64, ALNUM + "+/", seed) for seed in range(12)) + "\n" + made_up(22) + "=="
)

TOKENS = {
    "aws_key": "AKIA" + made_up(16, string.ascii_uppercase + "234567"),
    "github_token": "ghp_" + made_up(36),
    "github_token ": "github_pat_" + made_up(82, ALNUM + "_"),
    "github_token  ": "gho_" + made_up(36),
    "gitlab_token": "glpat-" + made_up(20, ALNUM + "_-") + "z",
    "slack_token": "xoxb-" + made_up(12, string.digits) + "-" + made_up(24),
    "stripe_key": "sk_live_" + made_up(24),
    "stripe_key ": "rk_live_" + made_up(24),
    "openai_key": "sk-" + made_up(48),
    "openai_key ": "sk-proj-" + made_up(64, ALNUM + "_-"),
    "anthropic_key": "sk-ant-api03-" + made_up(90, ALNUM + "_-"),
    "google_key": "AIza" + made_up(35),
    "xai_key": "xai-" + made_up(80),
    "huggingface_token": "hf_" + made_up(34),
    "npm_token": "npm_" + made_up(36),
    "pypi_token": "pypi-AgEIcHlwaS5vcmc" + made_up(150, ALNUM + "_-"),
    "sendgrid_key": "SG." + made_up(22) + "." + made_up(43),
    "telegram_token": made_up(9, "123456789") + ":AA" + made_up(33),
    "twilio_key": "SK" + made_up(32, HEX),
    "discord_token": "M" + made_up(25) + "." + made_up(6) + "." + made_up(38),
    "jwt": JWT,
    "age_key": "AGE-SECRET-KEY-1" + made_up(58, BECH32.upper()),
    "nostr_key": "nsec1" + made_up(58, BECH32),
    "api_key": "gsk_" + made_up(52),
    "vault_token": "hvs." + made_up(24),
}


@pytest.mark.parametrize(("kind", "token"), TOKENS.items())
@pytest.mark.parametrize(
    "around", ["{}", "use {}.", "钥匙是{}，请保存", "키{}를", "«{}»", "x={}&y=1", "「{}」"]
)
def test_a_token_of_a_known_form_is_replaced_wherever_it_stands(
    kind: str, token: str, around: str
) -> None:
    """F108, J6"""
    redacted = redact(around.format(token))
    assert redacted.text == around.format(f"[redacted:{kind.strip()}]")
    assert redacted.counts == {kind.strip(): 1}


SECRETS = [
    "password=hunter2",
    "password = 'hunter2'",
    "PASSWORD=correcthorse",
    "my password is hunter2!",
    "Password: Tr0ub4dor&3",
    "the passphrase: correct-horse-7-battery-99x",
    'passwd: "sunshine"',
    '{"password": "p@ss w0rd"}',
    r"{\"db_password\": \"hunter2\"}",
    "The root password is: hunter2.",
    "login --password hunter2 --verbose",
    "PASS=hunter2",
    "password=Größe2024!x",
    "пароль: Жук2024зима!",
    "api_key=ключ123456789",
    "password=\u200bUq7kk99zz",
    "mot de passe : Azerty2024!",
    "Passwort: Katzentreppe-Nebel-58. Trag das bitte ein.",
    "password: correct-horse-battery-staple",
    f"secret_key_base: {made_up(64, HEX)}",
    "密码：hunter2",
    "我的密码是：hunter2，别忘了",
    "密码是hunter2。",
    "密码:sunshine",
    "パスワードはhunter2です",
    "비밀번호는 hunter2 입니다",
    "пароль: hunter2",
    "Passwort ist hunter2",
    "DB_PASS=hunter2",
    "export SECRET_KEY=mysupersecretvalue",
    f"api_key: {made_up(32)}",
    f'"apiKey": "{made_up(24)}"',
    f"client_secret={made_up(40)}",
    f"aws_secret_access_key = {made_up(40, ALNUM + '/+')}",
    f"AWS_SECRET_ACCESS_KEY={made_up(40, ALNUM + '/+')}",
    f"RESEND_KEY=re_{made_up(30)}",
    f"BUZZ_PRIVATE_KEY={made_up(64, HEX)}",
    f"access_token={made_up(40)}&state=1",
    f"os.environ['OPENAI_TOKEN'] = '{made_up(30)}'",
    f"AccountKey={made_up(86, ALNUM + '+/')}==;EndpointSuffix=core.windows.net",
    f"令牌：{made_up(24)}",
    f"Authorization: Bearer {made_up(40)}",
    "Authorization: Basic dXNlcjpodW50ZXIy",
    f'"authorization": "Bearer {made_up(40)}"',
    f"curl -H 'X-Api-Key: {made_up(32)}' https://host",
    "curl -u admin:hunter2x9 https://host",
    "postgres://app:hunter2@db.internal:5432/app",
    "postgresql+asyncpg://app:p@ss@db/app",
    "amqp://guest:s/cret9@mq:5672",
    "redis://:hunter2@cache:6379/0",
    "https://joe:hunter2@git.host/repo.git",
    "host=db user=app password=hunter2 dbname=app",
    f"https://hooks.slack.com/services/T{made_up(8)}/B{made_up(8)}/{made_up(24)}",
    f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{PEM_BODY}",
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: x\n\n{PEM_BODY}\n(cut)",
    "The admin password for the router: Tr0ub4dor&3",
    "I set the password of the NAS to **Tr0ub4dor&3** yesterday",
    "Log in as mara with password Tr0ub4dor&3 and wait",
    "Zugangsdaten: mara / Tr0ub4dor&3",
    "把密码改成Tr0ub4dor&3了",
    "ログインパスワードは「Tr0ub4dor&3」です。",
    "Entra con la contraseña Tr0ub4dor&3.",
    "password:\nTr0ub4dor&3",
    "ENV REDIS_PASSWORD Tr0ub4dor&3",
    "ALTER ROLE app WITH LOGIN PASSWORD 'Tr0ub4dor&3';",
    "CREATE USER app IDENTIFIED BY 'Tr0ub4dor&3';",
    'let password: &str = "Tr0ub4dor&3";',
    'variable "db_password" {\n  type = string\n  default = "Tr0ub4dor&3"\n}',
    '<add key="DbPassword" value="Tr0ub4dor&3" />',
    "<password>Tr0ub4dor&3</password>",
    "define('DB_PASSWORD', 'Tr0ub4dor&3');",
    'auth=("mara", "Tr0ub4dor&3")',
    "mysql -u root -pTr0ub4dor&3 shop",
    "sshpass -p Tr0ub4dor&3 ssh host",
    "echo 'Tr0ub4dor&3' | sudo -S true",
    "db.example.com:5432:shop:app:Tr0ub4dor&3",
    f"The API key for staging is {made_up(32)}.",
    f"Cookie: theme=dark; sessionid={made_up(40)}; lang=de",
    f"https://host/a.csv?sp=r&sig={made_up(40)}",
    f"gh secret set DEPLOY_KEY --body {made_up(40)}",
    "Card number: 4716 9038 5274 1604, expires 09/28",
    "My seed phrase: " + " ".join(["zebra", "wisdom", "actor"] * 4),
    *(
        said.format("kX9mQ2vL7pTT")
        for said in (
            "密码{}",
            "口令{}",
            '{{"name":"DB_PASSWORD","value":"{}"}}',
            "- name: DB_PASSWORD\n  value: {}",
            "password: |\n  {}\n",
            "use {} as the password",
            "the password should be {}",
            "password -> {}",
            "| password | {} |",
            "Password (prod): {}",
            "Password\n{}",
            "la password è {}",
            "şifrem {}",
            "lösenordet är {}",
            "adgangskoden er {}",
            "passordet er {}",
            "salasana on {}",
            "heslo je {}",
            "a jelszó {}",
            "parola este {}",
            "kata sandi adalah {}",
            "mật khẩu là {}",
            "รหัสผ่าน{}",
            "ο κωδικός είναι {}",
            "كلمة المرور: {}",
            "הסיסמה היא {}",
            "رمز عبور {} است",
            "पासवर्ड {} है",
            "пароль — {}",
            "ｐａｓｓｗｏｒｄ＝{}",
            "requirepass {}",
            "WIFI:T:WPA;S:home net;P:{};;",
        )
    ),
    f"tls.key: LS0tLS1CRUdJTiBQUklWQVRF{made_up(60)}",
    f'{{"kty":"EC","crv":"P-256","x":"{made_up(43, seed=3)}","d":"{made_up(43)}"}}',
    f"https://{made_up(40, HEX)}@github.com/a/b.git",
    f"ghp_{made_up(18)}\n{made_up(18, seed=2)}",
    f"ghp_{made_up(10)}\u200b{made_up(26, seed=2)}",
    f"sq0atp-{made_up(22)}",
    f"sq0csp-{made_up(43)}",
    f"LTAI5t{made_up(18)}",
    f"AKID{made_up(32)}",
    f"s.{made_up(24)}",
    f"ABSK{made_up(120)}",
    "sk-lf-12345678-abcd-4def-8abc-1234567890ab",
    "Use the token EXAMPLE-NOT-A-REAL-KEY-0000 for staging.",
    f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 12\n{PEM_BODY}\nPrivate-MAC: 12",
    f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{PEM_BODY}\n"
    "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    f"-----begin private key-----\n{PEM_BODY}\n-----end private key-----",
    "> -----BEGIN PRIVATE KEY-----\n> " + PEM_BODY.replace("\n", "\n> "),
    "-----BEGIN PRIVATE KEY-----\\n"
    + PEM_BODY.replace("\n", "\\n")
    + "\\n-----END PRIVATE KEY-----",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_replaced(text: str) -> None:
    """F108"""
    redacted = redact(text)
    assert sum(redacted.counts.values()) == 1
    for secret in (
        "hunter2",
        "w0rd",
        "Tr0ub",
        "sunshine",
        "horse",
        "supersecret",
        "odW50",
        "cret9",
        "4716",
        "zebra",
        "kX9mQ2",
        "EXAMPLE-NOT",
        "sk-lf-",
    ):
        assert secret not in redacted.text
    for line in PEM_BODY.split("\n"):
        assert line not in redacted.text
    for seed_text in (made_up(24), made_up(64, HEX), made_up(40, ALNUM + "/+")):
        assert seed_text[:20] not in redacted.text


HARMLESS = [
    "key-value-store-benchmark-2024-results",
    "fc-router-config-2024-nodes-a1",
    "dapi-gateway-service-2024-west",
    "lip_sync_model_checkpoint_2024",
    "jina_embeddings_v2_base_2024_en",
    "kubectl get secret my-db-secret-2024",
    "the password manager is Bitwarden2024",
    "my password manager is KeePassXC-2.7.9",
    "use Bitwarden2024 as the password manager",
    "this.password = password2;",
    "password=pwd2,",
    "rsync -u src2024:dst2024x",
    "the password must be 12+characters",
    "password -> passwordHash2",
    "| password | varchar(255) |",
    "- name: SECRET_NAME\n  value: db-credentials-2024",
    "https://3f86062aee961b8b5e3449e2ac319deb@o12.ingest.sentry.io/34",
    "ＡＢＣ１２３ と トークン",
    "the password for the router is in the vault",
    "the password was changed on 2026-11-02T08:11:00Z",
    "the token for the build is 550e8400-e29b-41d4-a716-446655440000",
    "the password is checked in auth/views2.py",
    "Failed password for invalid user admin from 203.0.113.7 port 51234 ssh2",
    "the password is hashed with argon2id-v19",
    "set the password to something with 12 characters",
    "token: see getUser2Token() in auth.ts",
    "private_key: Ed25519PrivateKey | Ed448PrivateKey",
    "private_key: PKCS7PrivateKeyTypes,",
    "The test card is 4242 4242 4242 4242.",
    "card 4716 9038 5274 1600 is mistyped",
    "seed phrase: never show it to anybody, not even when the support asks you for all of it",
    "Cookie: theme=dark; lang=de",
    "https://host/search?key=name&page=2",
    "I forgot my password again",
    "the password is wrong",
    "Password: required",
    "password: str",
    "password: Optional[str] = None",
    "password: SecretStr",
    "connect(user=user, password=password)",
    "connect(password=db_password, token=token)",
    "password = get_password()",
    "password = config.database.password",
    "password=$PASSWORD",
    "password=${DB_PASSWORD:-}",
    "PGPASSWORD=$(cat /run/secrets/pg)",
    "password: {{ vault.password }}",
    "password: <your-password>",
    "password=********",
    "password=xxxxxxxx",
    "password: changeme",
    "password=%s",
    "PASSWORD_FILE=/run/secrets/db_password_1",
    "PWD=/home/joe/project2",
    'input("Password: ", hidden=True)',
    '{"password": "Enter your password"}',
    '{"password": "Password"}',
    "api_key=process.env.OPENAI_API_KEY",
    'api_key = os.environ["OPENAI_API_KEY"]',
    "api_key: YOUR_API_KEY",
    "api_key='your-api-key-here-12345'",
    "OPENAI_API_KEY=sk-...",
    "token: string",
    "token = response.json()['token']",
    "max_tokens=4096",
    "token: 12345",
    "token_limit: 8000",
    "next token is the",
    "the password hunter used",
    "password: one-time only",
    "pass hunter2 on",
    "token abc",
    "primary_key=True",
    "cache_key = 'user_profile_v2_settings'",
    f"public_key: {made_up(44)}",
    "key: value",
    "monkey: banana123456",
    "secret: false",
    "a secret garden",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "authorization: Optional[Mapping[str, str]]",
    "Bearer authentication is supported",
    "AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "postgres://user:password@localhost/db",
    "postgres://user:${PGPASSWORD}@localhost/db",
    "postgres://user:<password>@localhost/db",
    "http://localhost:3000/@scope/package",
    "https://medium.com/@joe/story",
    "git@github.com:owner/repo.git",
    "docker run -u 1000:1000 image",
    "commit " + made_up(40, HEX),
    "550e8400-e29b-41d4-a716-446655440000",
    "sk-learn and scikit-learn",
    "risk-assessment-and-mitigation-plan",
    "npm_config_registry and hf_hub_download",
    "ghp_short",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\n" + PEM_BODY + "\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + PEM_BODY + "\n-----END CERTIFICATE-----",
    "密码忘记了",
    "请输入密码：",
    "write `<private>` around what is not for me",
    "[redacted:password]",
    "password=[redacted:password]",
    "[redacted:github_token]: 7f3a9c2e1b",
    "",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_words_references_placeholders_and_code_stay(text: str) -> None:
    """F108"""
    assert redact(text).text == text
    assert redact(text).counts == {}


def test_only_the_secret_goes() -> None:
    assert redact("postgres://app:hunter2@db:5432/x?a=1").text == (
        "postgres://app:[redacted:url_password]@db:5432/x?a=1"
    )
    assert redact("set DB_PASSWORD=hunter2 then run").text == (
        "set DB_PASSWORD=[redacted:password] then run"
    )
    assert redact('{"password": "hunter2", "user": "joe"}').text == (
        '{"password": "[redacted:password]", "user": "joe"}'
    )
    assert redact(f"a -----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\nAnd then it broke.").text == (
        "a [redacted:private_key]\nAnd then it broke."
    )


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a [redacted:private] c"),
        ("a <PRIVATE>b</Private> c", "a [redacted:private] c"),
        ("a <private>b\nc", "a [redacted:private]"),
        ("a <private>b<private>c</private>d</private> e", "a [redacted:private] e"),
        ("<private>a</private><private>b</private>", "[redacted:private][redacted:private]"),
        ("秘密<private>码</private>。", "秘密[redacted:private]。"),
        ("a </private> b", "a </private> b"),
        (
            "the tag `<private>` hides <private>x</private>",
            "the tag `<private>` hides [redacted:private]",
        ),
    ],
)
def test_a_private_block_becomes_one_mark(text: str, kept: str) -> None:
    """F108"""
    assert redact(text).text == kept


def test_a_long_secret_goes_to_its_end() -> None:
    long = made_up(5_000)
    assert redact(f"token={long} x").text == "token=[redacted:secret] x"
    assert redact(f'{{"token": "{long}"}}').text == '{"token": "[redacted:secret]"}'
    assert redact(f"Authorization: Bearer {long}").text == (
        "Authorization: Bearer [redacted:authorization]"
    )


@pytest.mark.parametrize("join", ["\n", "\\\n", '"\n    "', "\n> "])
def test_a_key_that_was_broken_into_two_lines_goes_whole(join: str) -> None:
    key = TOKENS["anthropic_key"]
    redacted = redact(f"{key[:50]}{join}{key[50:]}\nthen")
    assert redacted.text == "[redacted:anthropic_key]\nthen"


def test_counts_name_kinds_and_numbers_only() -> None:
    redacted = redact(f"password=hunter2 password=hunter3 {TOKENS['jwt']} <private>x</private>")
    assert redacted.counts == {"private": 1, "jwt": 1, "password": 2}


PIECES = """
[redacted:password] [redacted: ] :// : @ password token = " ' \\ <private> </private> ` Bearer eyJ .
Authorization: PRIVATE KEY----- 密码 İ
"""
FRAGMENTS = st.sampled_from(
    [*TOKENS.values(), *SECRETS, *HARMLESS, *PIECES.split(), " is ", ": ", "\n", "-u a:", "Bearer "]
)


@settings(deadline=None)
@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=8).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    """F108"""
    once = redact(text)
    twice = redact(once.text)
    assert twice.text == once.text
    assert twice.counts == {}


@settings(deadline=None)
@given(st.text(st.characters(codec=None, categories=None), max_size=80))
def test_any_text_has_a_result(text: str) -> None:
    redacted = redact(text)
    assert (redacted.text == text) == (not redacted.counts)


MIXED = st.text(ALNUM, min_size=8, max_size=48)


@settings(deadline=None)
@given(
    st.sampled_from(
        [
            *("token ", "secret: ", "my token and key: ", "credentials: ", "Authorization: "),
            *("密码 ", "card 4716 9038 5274 1604 ", "| password | ", f"{TOKENS['github_token']} "),
        ]
    ),
    st.lists(MIXED, min_size=1, max_size=30),
)
def test_what_follows_a_mark_is_not_beside_a_secret(before: str, words: list[str]) -> None:
    """F108"""
    once = redact(before + " ".join(words))
    assert redact(once.text) == Redacted(once.text, {})


@pytest.mark.parametrize("before", ["token ", "my token and key: ", "secret: ", "credentials: "])
def test_a_keyword_takes_the_first_value_only(before: str) -> None:
    words = [made_up(40, seed=seed) for seed in range(20)]
    redacted = redact(before + " ".join(words))
    assert redacted.text == f"{before}[redacted:secret] {' '.join(words[1:])}"


def test_a_card_behind_a_mark_needs_a_word_of_its_own() -> None:
    number = "4716 9038 5274 1604"
    assert redact(f"[redacted:card_number] {number}").counts == {}


@pytest.mark.parametrize("between", [",", " ", " / ", "\n"])
def test_both_halves_of_a_pair_of_aws_go(between: str) -> None:
    pair = TOKENS["aws_key"] + between + made_up(40, ALNUM + "+/")
    assert redact(pair).text == f"[redacted:aws_key]{between}[redacted:secret]"


def test_only_the_line_that_hides_a_secret_is_written_in_plain_letters() -> None:
    assert redact("ＡＢＣ\nｐａｓｓｗｏｒｄ＝kX9mQ2vL7pTT\nＤＥＦ").text == (
        "ＡＢＣ\npassword=[redacted:password]\nＤＥＦ"
    )


def test_suspicions_are_asked_for_once_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = redaction._suspicions

    def counted(text: str) -> int:
        asked.append(text)
        return ask(text)

    monkeypatch.setattr(redaction, "_suspicions", counted)
    redact("token " + " ".join(made_up(40, seed=seed) for seed in range(50)))
    assert len(asked) == 2


def _redact_by_every_rule(text: str) -> Redacted:
    every = (1 << len(redaction._RULES)) - 1 | redaction._VALUE
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redaction, "_suspicions", lambda _: every)
        return redact(text)


TYPED = st.text(string.ascii_letters + string.digits + "_-./+=:@", max_size=24)
BEGINNINGS = st.sampled_from(
    [
        *(f"{prefix}{made_up(9)}" for _, hints, _ in redaction.tokens._TOKENS for prefix in hints),
        *redaction.assignments.HINTS,
        *("PASSWORD", "Key_Base", "--token", "toKen:", "\u212aey=", "paſſ=", "private", "-U"),
        *("--USER", "BEARER", "<Private>", "<prıvate>"),
    ]
)


@settings(deadline=None, max_examples=300)
@given(st.lists(FRAGMENTS | BEGINNINGS | TYPED | st.text(max_size=4), max_size=8).map("".join))
def test_leaving_out_rules_that_cannot_apply_changes_nothing(text: str) -> None:
    """F108"""
    assert redact(text) == _redact_by_every_rule(text)


@pytest.mark.parametrize("sample", [*TOKENS.values(), *SECRETS, *HARMLESS])
def test_each_sample_is_judged_as_by_every_rule(sample: str) -> None:
    for text in (sample, sample[1:], sample[:-1], sample.upper(), sample.lower(), f"é{sample}"):
        assert redact(text) == _redact_by_every_rule(text)


@pytest.mark.parametrize(
    "unit",
    [
        "://a:",
        "://a:b@",
        "eyJaaaaaaaaa-",
        "eyJaaaaaaaaa.",
        "sk-",
        "sk-ant-",
        "password=",
        "password is ",
        "token:token",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAA",
        "<private>",
        "</private>",
        "bearer ",
        "authorization: basic ",
        "-u a:",
        "SG.aaaaaaaaaaaaaaaaaaaaaa.",
        "12345678:AA",
        "aA1-",
        '"',
        "\\",
        "İ",
        "密码是",
        "a@b:c/",
    ],
)
def test_a_megabyte_made_to_be_slow_is_redacted(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert len(redact(text).text) <= 2 * len(text)
