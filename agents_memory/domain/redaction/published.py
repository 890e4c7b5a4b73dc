"""Keys that manuals and standards publish: no secrets, though they look like some."""

_PUBLISHED = (
    # The sample of jwt.io, and the examples of RFC 7519, 6749, 6750 and 7617.
    "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0",
    "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    "czZCaGRSa3F0MzpnWDFmQmF0M2JW",
    "gX1fBat3bV",
    "mF_9.B5f-4.1JqM",
    "2YotnFZFEjr1zCsicMWpAA",
    "tGzv3JOkF0XG5Qx2TlKWIA",
    "SplxlOBeZQQYbYS6WxSbIA",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    "QWxhZGRpbjpPcGVuU2VzYW1l",
    # Azure's emulators of storage and of Cosmos DB.
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==",
    # Stripe's and Telegram's manuals.
    "4eC39HqLyjWDarjtT1zdp7dc",
    "ABC-DEF1234ghIkl-zyx57W2v1u123ew11",
    # The key URI format of one-time passwords, and NIP-19.
    "JBSWY3DPEHPK3PXP",
    "HXDMVJECJJWSRB3HWIZR4IFUGFTMXBOZ",
    "vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5",
    # The first accounts of Hardhat and Anvil, and the phrases that wallets are tested with.
    "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
    "test test test test test test test test test test test junk",
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
)


def is_published(value: str) -> bool:
    """Whether a manual's key stands in the value."""
    return any(map(value.__contains__, _PUBLISHED))
