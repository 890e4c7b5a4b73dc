"""Names of passwords that several rules know; each rule adds what is a name in its place only."""

PASSWORDS = "password|passwort|passwd|passphrase|kennwort|contraseña|密码|パスワード"
MORE_PASSWORDS = "senha|mot de passe|wachtwoord|密碼|口令|비밀번호"
