"""Secrets by the family of places they stand in, and their look-alikes (F108); all made up."""

import pytest

from agents_memory.domain.redaction import redact
from tests.unit.domain.redaction_samples import ALNUM, HEX, made_up

PASSWORD = "Tr0ub4dor&3"
KEY = "q7Xv2LmB9sKd4RtW8yHn3ZpC6jFg1Qa5"

FOUND = {
    "commands": [
        "redis-cli -h cache -a {password} ping",
        "sqlcmd -S db -U sa -P {password} -Q 'SELECT 1'",
        "7z x -p{password} backup.7z",
        "docker login -u mara -p {password} registry.io",
        "smbclient //nas/share -U mara%{password}",
        "net user mara {password} /add",
        "printf '%s' '{password}' | docker login --password-stdin",
        "wpa_passphrase home {password}",
        "fly secrets set STRIPE_TOKEN={key}",
    ],
    "files of programs": [
        "requirepass {password}",
        "machine git.host login mara password {password}",
        "chpasswd:\n  list: |\n    root:{password}",
        "[smtp.host.io]:587 mara@host.io:{password}",
        "enable secret 5 {password}",
        "<auth-user-pass>\nmara\n{password}\n</auth-user-pass>",
    ],
    "calls": [
        "server.login('mara', '{password}')",
        'requests.get(url, auth=HTTPBasicAuth("mara", "{password}"))',
        "hmac.new(b'{key}', body, 'sha256')",
        'page.fill("#password", "{password}")',
        "INSERT INTO users (name, password) VALUES ('mara', '{password}')",
        'keys.load(in, "{password}".toCharArray());',
    ],
    "tables": [
        "| host | user | password |\n| --- | --- | --- |\n| db | mara | {password} |",
        "name,password\nmara,{password}",
        "name\tpassword\nmara\t{password}",
    ],
    "queries": [
        "https://host/a.json?token={key}&page=2",
        '{{"kty": "oct", "k": "{key}"}}',
        "XSRF-TOKEN={key}",
    ],
    "the next line": [
        "What is the password?\nMara: {password}",
        "$ cat /run/secrets/db_password\n{password}",
        "Here is the password:\n\n{password}",
    ],
    "changed": [
        "the password was changed from Winter2023!x to {password}",
        "Das Passwort wurde von Winter2023!x auf {password} geändert",
    ],
    "languages": [
        "hasło to {password}",
        "le mot de passe est {password}",
        "пароль от роутера {password}",
        "비번은 {password}",
        "Netzwerkschlüssel: {password}",
    ],
}
STAYS = {
    "commands": [
        "redis-cli -a $REDIS_PASSWORD ping",
        "docker run -p 8080:80 nginx",
        "mysql -u root -p shop",
        "docker login -u mara --password-stdin",
        "echo hello | sudo tee /etc/motd",
        "git config user.name Mara2024",
        "zip -r backup.zip folder",
    ],
    "files of programs": [
        "requirepass ${REDIS_PASSWORD}",
        "the machine runs with login and password",
        "http://DOMAIN/path:8080 is up",
        "export FILE_PATH=/usr/local/lib",
    ],
    "calls": [
        "server.login(user, password)",
        "server.login('mara', os.environ['PASSWORD'])",
        'connect("localhost", "postgres")',
        'page.fill("#password", password)',
        "INSERT INTO users (name, password) VALUES ($1, $2)",
        'hashlib.new("sha256", body)',
    ],
    "tables": [
        "| name | password |\n| --- | --- |\n| type | varchar(255) |",
        "name,password\nmara,required",
        "The token, the key\nand the secret, too",
    ],
    "queries": [
        "https://host/a?key=name&code=42",
        "sessionid=${SESSION}",
        '{"kty": "EC", "x": "abc"}',
    ],
    "the next line": [
        "What is the password?\nMara: I forgot",
        "$ cat /run/secrets/db_password\ncat: No such file",
    ],
    "changed": ["the password was changed from weak to strong"],
    "languages": [
        "hasło to tajemnica",
        "le mot de passe est obligatoire",
        "пароль от роутера забыт",
    ],
    "published keys": [
        "key: ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
        "seed phrase: " + "test " * 11 + "junk",
        "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        "otpauth://totp/Example:a@b.c?secret=JBSWY3DPEHPK3PXP&issuer=Example",
    ],
}


@pytest.mark.parametrize(
    ("family", "text"), [(family, text) for family, texts in FOUND.items() for text in texts]
)
def test_a_secret_goes_by_where_it_stands(family: str, text: str) -> None:
    """F108"""
    redacted = redact(text.format(password=PASSWORD, key=KEY)).text
    assert "[redacted:" in redacted, family
    assert PASSWORD not in redacted
    assert KEY not in redacted


@pytest.mark.parametrize(
    ("family", "text"), [(family, text) for family, texts in STAYS.items() for text in texts]
)
def test_what_only_looks_like_one_stays(family: str, text: str) -> None:
    """F108"""
    assert redact(text).text == text, family


def test_the_path_of_a_webhook_is_its_secret() -> None:
    path = made_up(40, ALNUM)
    text = f"https://acme.webhook.office.com/webhookb2/{path}"
    assert redact(text).text == "https://acme.webhook.office.com/webhookb2/[redacted:webhook]"


def test_the_seed_of_one_time_passwords_goes() -> None:
    text = "otpauth://totp/Acme:mara?secret=KRUGKIDROVUWG2ZA&issuer=Acme"
    assert redact(text).text == "otpauth://totp/Acme:mara?secret=[redacted:secret]&issuer=Acme"


def test_recovery_codes_go_together() -> None:
    text = "Recovery codes:\n7k2f-9x4m\n3p8q-1w6z\n5t9r-2c7v\nKeep them."
    redacted = redact(text)
    assert redacted.counts == {"recovery_codes": 1}
    assert not any(code in redacted.text for code in ("7k2f", "3p8q", "5t9r"))


@pytest.mark.parametrize("text", ["PIN: 4821", "the pin for the card is 4821", "PUK is 48219377"])
def test_a_pin_goes(text: str) -> None:
    assert redact(text).counts == {"pin": 1}


@pytest.mark.parametrize("text", ["pinned at 4821", "GPIO pin 17", "spin: 4821", "pin the version"])
def test_a_number_beside_another_word_is_no_pin(text: str) -> None:
    assert redact(text).text == text


def test_an_application_s_password_goes() -> None:
    text = "The app password is: abcd efgh ijkl mnop"
    assert redact(text).text == "The app password is: [redacted:password]"


def test_a_digest_in_a_call_of_another_kind_stays() -> None:
    text = f"assert digest(body) == '{made_up(64, HEX)}'"
    assert redact(text).text == text
