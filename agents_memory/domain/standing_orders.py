"""Find orders planted to be obeyed again and again, by what they are made of; a dozen languages.

Each part alone is everyday talk: a line that begins with `System:`, the word "always", a place on
the net to send something to, a secret. Only all of them near each other are an order that nobody
has a reason to keep. Texts are casefolded; every part is found within a bounded distance.
"""

import re
from collections.abc import Iterable

# How far an order goes on behind its first part, in characters, and how much stands before it.
_ORDER_CHARS = 400
_BEFORE = 160


def gives_standing_order(text: str) -> bool:
    """Whether somebody gives a model an order for all time to send secrets, or all, somewhere.

    In the voice of the system or of the model itself, or about the file of a key.
    """
    return any(_orders(text, voice.end()) for voice in _VOICE.finditer(text)) or any(
        _hands_over(text, key.start(), key.end()) for key in _KEY_FILE.finditer(text)
    )


def _orders(text: str, start: int) -> bool:
    order = text[start : start + _ORDER_CHARS]
    return bool(_STANDING.search(order) and _sends(order) and _PRIZE.search(order))


def _hands_over(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _BEFORE) : start]
    if _ONLY_USED.search(before) or not _HANDED_OVER.match(text, end):
        return False
    return _STANDING.search(before + text[end : end + _ORDER_CHARS // 2]) is not None


def _sends(order: str) -> bool:
    """Whether it says to send something, near the place to which."""
    return any(
        _SEND.search(order[max(0, place.start() - 120) : place.end() + 40])
        for place in _PLACE.finditer(order)
    )


def _any(*words: str) -> str:
    return "|".join(words)


def _words(words: Iterable[str]) -> str:
    """Whole words; a last `~` leaves their end open."""
    found = (rf"{word[:-1]}\w*" if word.endswith("~") else rf"{word}\b" for word in words)
    return rf"\b(?:{'|'.join(found)})"


_VOICE = re.compile(
    r"^[ \t]{0,8}[#*>\[<(|\- ]{0,6}(?:im_start\|>[ \t]{0,3})?"
    r"(?:system(?:[ -]?(?:prompt|message|nachricht))?|assistant|developer|assistent|système"
    r"|assistente|asistente|sistema|система|ассистент|系统|系統|助手|システム|アシスタント"
    r"|시스템|어시스턴트)"
    r"[ \t]{0,2}[\]>)*|]{0,4}[ \t]{0,2}(?:[:：]|(?<=[\]>|])|\n)",
    re.MULTILINE,
)
_STANDING = re.compile(
    _any(
        r"\b(?:always|from now on|whenever|(?:every|each) time)\b",
        r"\b(?:before|after|with) (?:each|every|any)\b",
        r"\b(?:immer|ab (?:jetzt|sofort)|von nun an|künftig|jedes ?mal)\b",
        r"\b(?:vor|nach|bei) jede[rm]\b",
        r"\b(?:siempre|a partir de ahora|cada vez|(?:antes|después) de cada)\b",
        r"\b(?:toujours|désormais|à partir de maintenant|chaque fois|(?:avant|après) chaque)\b",
        r"\b(?:sempre|(?:a partir de|de) agora|cada vez|(?:antes|depois) de cada)\b",
        r"\b(?:d['’]ora in poi|ogni volta|prima di ogni|dopo ogni)\b",
        r"\b(?:всегда|отныне|впредь|с этого момента|каждый раз|(?:перед|после) кажд\w+)\b",
        "从现在|從現在|以后|今后|今後|总是|總是|始终|每次|これから|常に|必ず|毎回|いつも",
        "앞으로|이제부터|항상|매번|언제나",
    )
)
_SEND = re.compile(
    _any(
        _words(("forward", "send", "post", "upload", "transmit", "exfiltrate", "bcc")),
        _words(("leite", "leitet", "weiterleit~", "weiterzuleiten", "schick~", "sende", "lade")),
        _words(("reenví~", "reenvia~", "enví~", "envia~", "envie", "manda", "mande", "sube")),
        _words(("transfère~", "transmet~", "envoie~", "envoyer", "envoyez", "publiez")),
        _words(("encaminh~", "inoltra~", "invia~", "carica", "переш~", "пересыл~", "отправ~")),
        "转发|轉發|发送|發送|发到|发给|上传|転送|送信|送っ|送る|アップロード|전달|보내|전송|업로드",
    )
)
_PLACE = re.compile(r"https?://[^\s]{3}|[\w.+-]{1,64}@[\w-]{1,64}\.\w")
# What is worth an order: secrets, all there is, or that nobody hears of it.
_PRIZE = re.compile(
    _any(
        r"\.ssh\b|id_(?:rsa|ed25519|ecdsa)|\.aws/credentials|/etc/(?:passwd|shadow)|(?<!\w)\.env\b",
        r"\b(?:passwords?|secrets?|api.?keys?|private keys?|credentials?|tokens?|system prompt)\b",
        r"\b(?:every|all|any)\s+(?:\w+\s+){0,3}(?:e-?mails?|messages?|mails?|conversations?|files?|memories)\b",
        r"\b(?:without (?:asking|telling|mention\w*|confirm\w*)|silently|secretly)\b",
        r"\b(?:do not|don['’]?t|never) (?:tell|mention|ask)\b",
        r"passw[oö]r|zugangsdaten|private[rn]? schlüssel|\bheimlich",
        r"\bohne (?:\w+ ){0,3}(?:zu )?\w{0,10}frag",
        r"\b(?:jede|alle)\s+(?:\w+\s+)?(?:e-?mails?|nachrichten|nachricht|dateien)\b",
        r"contraseñ|\bclaves?\b|\bsin (?:preguntar|avisar)|\b(?:todos los|cada) (?:correo|mensaje)",
        r"mots? de passe|\bclés?\b|\bsans (?:demander|prévenir)",
        r"\b(?:tous les|chaque) (?:e-?mail|courriel|message)",
        r"\bsenhas?\b|\bchaves?\b|\bsem (?:perguntar|avisar)",
        r"\b(?:todos os|cada) (?:e-?mail|mensage)",
        r"\bchiavi?\b|\bsenza (?:chiedere|avvisare)|\b(?:tutte le|ogni) (?:e-?mail|messagg)",
        r"парол|\bключ|не спрашивая|без (?:спроса|вопросов)|(?:все|каждое) (?:письм|сообщени)",
        "密码|密碼|密钥|金鑰|(?:所有|每封|每个|全部).{0,4}(?:邮件|郵件|消息)|(?:不要|无需|不用|別|别)(?:询问|问|告诉)",
        "パスワード|秘密鍵|(?:すべて|全て|全部)の(?:メール|メッセージ)|黙って|(?:確認|許可|聞か)(?:せず|ず|なし)",
        "비밀번호|개인 ?키|(?:모든|전체) (?:이메일|메일|메시지)|(?:확인|허락) 없이|묻지",
    )
)
_KEY_FILE = re.compile(
    r"(?:\.ssh/id_\w{1,20}|\bid_(?:rsa|ed25519|ecdsa)|\.aws/credentials|/etc/shadow|\.gnupg/\w{1,20})"
    r"(?!\w|\.pub\b)"
)
# As in `ssh -i ~/.ssh/id_rsa`.
_ONLY_USED = re.compile(r"-i\s{1,3}\S{0,60}$")
# Behind the key: that it is sent to a place, in either order of the words.
_HANDED_OVER = re.compile(
    rf"[^\n]{{0,60}}?(?:(?:{_SEND.pattern})[^\n]{{0,60}}?(?:{_PLACE.pattern})"
    rf"|(?:{_PLACE.pattern})[^\n]{{0,80}}?(?:{_SEND.pattern}))"
)
