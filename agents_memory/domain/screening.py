"""Find text that was planted to command a memory; rules only, in a dozen languages.

Three things are obvious enough for a rule: text that closes our own fence; an order to drop the
instructions that hold together with an order to store, erase or give away what is remembered, or to
run what is fetched from the net; and an order for all time to send secrets somewhere
(`domain.standing_orders`). One half alone is everyday talk. What passes is still only data: it is
fenced wherever it is shown.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from agents_memory.domain.fencing import fence
from agents_memory.domain.messages import Screening, Trust
from agents_memory.domain.standing_orders import gives_standing_order

FORGED_FENCE = "forged_fence"
OVERRIDE_AND_STORE = "override_and_store"
OVERRIDE_AND_ERASE = "override_and_erase"
OVERRIDE_AND_LEAK = "override_and_leak"
OVERRIDE_AND_RUN = "override_and_run"
STANDING_ORDER = "standing_order"

# A match looks this far around itself for its other half, in characters.
_BEFORE, _AFTER = 300, 600
# One call of the expression engine stops every thread of the process, so texts are cut for it.
_SLICE, _OVERLAP = 50_000, 1_500
_MOST_LOOKS = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """Clear or quarantined, and by which rules; a clear text of the owner may have reasons too."""

    screening: Screening
    reasons: tuple[str, ...] = ()


def screen(text: str, trust: Trust) -> Verdict:
    """What may become of a message; any string is legal, and the time grows with its length.

    The owner's words are never quarantined: one may talk about injections. Nor is an agent's
    report that quotes one, or calls it by its name.
    """
    plain = _plain(text)
    if trust is Trust.AGENT:
        plain = "" if _NAMED.search(plain) else _QUOTED.sub(" ", plain)
    reasons = tuple(sorted(set(_reasons(plain))))
    bad = bool(reasons) and trust is not Trust.OWNER
    return Verdict(Screening.QUARANTINED if bad else Screening.CLEAR, reasons)


def commands(text: str) -> bool:
    """Whether a short text, such as a label, tells a model to drop its instructions.

    Stricter than `screen`, since a label has no reason to: one half of what is planted is enough.
    """
    plain = _plain(text)
    return _OVERRIDE.search(plain) is not None or _closes_fence(plain)


def _plain(text: str) -> str:
    """Without letters in disguise and without characters that cannot be seen.

    Where an order begins with a capital behind a word, there it begins a line.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = _UNSEEN.sub("", text)
    return _CAPITAL.sub("\n", text).casefold()


def _reasons(text: str) -> Iterator[str]:
    looks = _MOST_LOOKS
    for start in range(0, max(len(text), 1), _SLICE):
        piece = text[start : start + _SLICE + _OVERLAP]
        if _closes_fence(piece):
            yield FORGED_FENCE
        if gives_standing_order(piece):
            yield STANDING_ORDER
        for override in islice(_OVERRIDE.finditer(piece), looks):
            looks -= 1
            around = piece[max(0, override.start() - _BEFORE) : override.end() + _AFTER]
            yield from (reason for reason, order in _ORDERS.items() if order.search(around))


def _closes_fence(text: str) -> bool:
    """Whether a closing marker stands there that no opening one before it asks for."""
    opened = 0
    for marker in _MARKER.finditer(text):
        opened += -1 if marker["closing"] else 1
        if opened < 0:
            return True
    return False


_UNSEEN = re.compile(
    "[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_CAPITAL = re.compile(
    r"(?<=\w)[ \t]{1,3}(?=(?:Ignore|Disregard|Forget|Override|Bypass|Ignoriere?|Missachte|Vergiss"
    r"|Ignora|Olvida|Descarta|Ignorez|Oubliez?|Esqueça|Dimentica|Игнорируй|Забудь)\b)"
)
# The name of our marker, from its closing line.
_TAG = fence("", "any").rpartition("</")[2].rstrip(">")
# In quotes it is talked about, as in our own documentation.
_MARKER = re.compile(rf"(?<![\"'`])<\s{{0,5}}(?P<closing>/?)\s{{0,5}}{re.escape(_TAG)}")
_QUOTED = re.compile(
    r"```.*?```|`[^`\n]*`|\"[^\"\n]{0,400}\"|“[^”]{0,400}”|„[^“”]{0,400}[“”]|«[^»]{0,400}»"
    r"|「[^」]{0,400}」|『[^』]{0,400}』|^[ \t]*>[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_NAMED = re.compile(
    r"prompt.?injection|inject(?:ed|ion) (?:attempt|attack|prompt)|jailbreak|malicious|injektion"
    r"|inyecci[oó]n|injeção|iniezione|инъекци|注入|インジェクション|인젝션"
)

# Where an order can begin: a sentence, a line, a list item, or behind a word that presses.
_ORDER = (
    r"(?:^|[\n.!?:;>\]\)*#\-–—。！？：；,，、\"“«「]\s{0,3}"
    r"|\b(?:please|now|must|should|then|and|bitte|por favor|s'il (?:te|vous) pla[iî]t)\s{0,3}"
    r"|[请請你]|必须|立即)"
)
_BUT = r"(?:[\w'’]+\s+){0,4}"

_OVERRIDE = re.compile(
    _ORDER
    + r"(?:"
    + "|".join(
        (
            # English, word order of the rest differs
            r"(?:ignore|disregard|forget|override|bypass|do not follow|don['’]?t follow)\s+"
            rf"{_BUT}(?:previous|prior|earlier|preceding|above|existing|original|system|safety)\s+"
            r"(?:and\s+\w+\s+)?(?:\w+\s+)?"
            r"(?:instruction|prompt|rule|guideline|direction|directive|command|message)s?",
            rf"(?:ignore|disregard|forget)\s+{_BUT}"
            r"(?:instructions?|rules?|prompts?|everything|all)\s+"
            r"(?:you (?:were|have been) given|(?:given )?(?:above|before|so far|earlier))",
            r"(?:ignorier\w*|missachte\w*|vergiss|vergesst|vergessen sie)\s+"
            rf"{_BUT}(?:vorherig|bisherig|früher|obig|vorangegangen|vorig)\w*\s+(?:\w+\s+)?"
            r"(?:anweisung|instruktion|regel|vorgabe|befehl|prompt|anordnung)\w*",
            rf"(?:ignor(?:a|e|ad|en)|olvid(?:a|e|ad|en)|descarta)\s+{_BUT}"
            r"(?:instrucciones|indicaciones|reglas|órdenes)\s+(?:\w+\s+)?"
            r"(?:previas|anteriores|precedentes|de arriba)",
            rf"(?:ignorez?|oubliez?|ne ten(?:ez|s)? pas compte)\s+{_BUT}"
            r"(?:instructions|consignes|règles|directives)\s+(?:\w+\s+)?"
            r"(?:pr[ée]c[ée]dentes|ant[ée]rieures|ci-dessus)",
            rf"(?:ignor[ea]|esque[çc]a|desconsidere)\s+{_BUT}(?:instruções|regras|ordens)\s+"
            r"(?:\w+\s+)?(?:anteriores|prévias|acima)",
            rf"(?:ignor(?:a|ate)|dimentic(?:a|ate))\s+{_BUT}(?:istruzioni|regole|indicazioni)\s+"
            r"(?:\w+\s+)?(?:precedenti|anteriori|di cui sopra)",
            r"(?:(?:про)?игнорируй(?:те)?|забудь(?:те)?|не следуй(?:те)?)\s+"
            rf"{_BUT}(?:предыдущ|прежн|прошл|вышеуказанн)\w*\s+(?:\w+\s+)?"
            r"(?:инструкци|указани|правил|команд)\w*",
            "(?:忽略|无视|無視|忽視|忘记|忘記|忘掉)(?:掉|你)?.{0,6}"
            "(?:之前|以前|以上|上面|先前|前面|所有|一切|全部).{0,6}"
            "(?:指令|指示|说明|說明|规则|規則|命令|提示|要求)",
            "(?:これまで|以前|前|上記|以上|今まで|すべて|全て)の?.{0,10}"
            "(?:指示|命令|ルール|プロンプト|指令|規則).{0,6}(?:無視|忘れ|破棄)"
            "(?:しろ|せよ|しなさい|し?て|ろ|なさい)(?!と)",
            "(?:이전|지금까지|앞선|위|기존|모든)의?.{0,12}(?:지시|명령|규칙|지침|프롬프트).{0,12}"
            "(?:무시하(?:고|세요|십시오|라(?!고|는))|무시해(?!도)|잊어|잊고|잊으세요|따르지 마)",
        )
    )
    + r")",
    re.MULTILINE,
)


def _order(*pairs: tuple[str, str]) -> re.Pattern[str]:
    """Either word of a pair soon followed by the other, within one sentence."""
    return re.compile(
        "|".join(f"(?:{verb})[^.!?。！？\n]{{0,80}}?(?:{thing})" for verb, thing in pairs)
    )


_ORDERS = {
    OVERRIDE_AND_STORE: _order(
        (
            r"\b(?:store|save|write|record|add|put|commit|remember|memori[sz]e|keep|persist)\b",
            r"\b(?:memory|memories|long.term|permanently|forever|profile|in (?:all )?future)\b",
        ),
        (r"\b(?:remember|memori[sz]e)\b", r"\b(?:that|this|the following|from now on)\b"),
        (
            r"\b(?:speicher|merk|notier|schreib)\w*",
            r"\b(?:gedächtnis|erinnerung|dauerhaft|für immer|ab jetzt|künftig|profil)",
        ),
        (
            r"\b(?:guard|almacen|recuerd|memoriz|memoric|anot)\w*",
            r"\b(?:memoria|permanente|para siempre|a partir de ahora|perfil)",
        ),
        (
            r"\b(?:enregistre|mémorise|stocke|sauvegarde|souviens|retiens|retenez|ajoute)\w*",
            r"\b(?:mémoire|définitivement|pour toujours|désormais|profil)",
        ),
        (
            r"\b(?:guarde|salve|armazene|lembre|memorize|grave|anote)\b",
            r"\b(?:memória|permanente|para sempre|a partir de agora|perfil)",
        ),
        (
            r"\b(?:salva|memorizza|ricorda|registra|annota)\w*",
            r"\b(?:memoria|permanente|per sempre|d['’]ora in poi|profilo)",
        ),
        (r"\b(?:запомни|сохрани|запиши|добавь)", r"\b(?:памят|навсегда|впредь|профил)"),
        ("保存|存储|存入|记住|记录|写入|儲存|記住|寫入", "记忆|記憶|长期|長期|永久|永远|永遠"),
        ("记忆|記憶", "保存|写入|寫入|加入|添加"),
        ("記憶|メモリ|プロファイル", "保存|記録|追加|書き込|登録"),
        ("永久に|ずっと", "覚え|記憶"),
        ("기억|메모리|프로필", "저장|기록|추가|남겨"),
        ("영원히|영구", "기억|저장"),
    ),
    OVERRIDE_AND_ERASE: _order(
        (
            r"\b(?:delete|erase|wipe|purge|remove|clear|destroy|forget|overwrite)\b",
            r"\b(?:memory|memories|everything you (?:know|remember)|stored (?:facts|notes)"
            r"|all (?:of )?your notes)\b",
        ),
        (
            r"\b(?:lösch|vergiss|vergesst|entfern|überschreib)\w*",
            r"\b(?:erinnerung|gedächtnis|notizen)",
        ),
        (r"\b(?:borr|elimin|olvid)\w*", r"\b(?:memoria|recuerdos|notas|todo lo que sabes)"),
        (r"\b(?:supprime|efface|oublie)\w*", r"\b(?:mémoire|souvenirs|notes|tout ce que tu sais)"),
        (r"\b(?:apague|exclua|esqueça|remova)\b", r"\b(?:memória|notas|tudo o que)"),
        (r"\b(?:cancella|elimina|dimentica)\w*", r"\b(?:memoria|ricordi|note\b)"),
        (r"\b(?:удали|сотри|очисти|забудь)", r"\b(?:памят|воспоминани|заметк)"),
        ("删除|清除|清空|抹去|刪除", "记忆|記憶|笔记|筆記"),
        ("記憶|メモリ", "削除|消去|消し"),
        ("기억|메모리", "삭제|지워|지우"),
    ),
    OVERRIDE_AND_LEAK: _order(
        (
            r"\b(?:send|post|upload|forward|e-?mail|transmit|leak|exfiltrate|reveal|print|output"
            r"|disclose|share|paste|dump)\b",
            r"\b(?:memory|memories|secrets?|api.?keys?|passwords?|tokens?|credentials?"
            r"|private keys?|system prompt|environment variables|conversation history)\b",
        ),
        (
            r"\b(?:send|schick|verrat|gib|geben sie|veröffentlich|zeig|leite)\w*",
            r"(?:schlüssel|passw|geheimnis|zugangsdaten|token|erinnerung|gedächtnis|systemprompt)",
        ),
        (
            r"\b(?:env[ií]|mand|revel|muestr|compart|public|filtr)\w*",
            r"\b(?:clave|contraseña|secreto|token|credencial|recuerdos|memoria)",
        ),
        (
            r"\b(?:envoi|envoy|transmet|révèl|affich|divulgu|partag)\w*",
            r"\b(?:clé|mots? de passe|secret|jeton|identifiants|souvenirs|mémoire)",
        ),
        (
            r"\b(?:envie|mande|revele|mostre|compartilhe)\b",
            r"\b(?:chave|senha|segredo|token|credenciais|memória)",
        ),
        (
            r"\b(?:invia|manda|rivela|mostra|condividi)\w*",
            r"\b(?:chiav|password|segret|token|credenziali|ricordi|memoria)",
        ),
        (
            r"\b(?:отправь|пришли|перешли|раскрой|покажи|выведи)",
            r"\b(?:ключ|парол|секрет|токен|памят|уч[её]тн)",
        ),
        (
            "发送|发给|上传|泄露|透露|输出|發送|傳送",
            "密钥|密码|密碼|秘密|令牌|凭证|记忆|記憶|系统提示|api",
        ),
        ("密钥|密码|密碼|秘密|令牌|记忆|記憶", "发送|发到|发给|上传|泄露|發送|傳送"),
        ("apiキー|パスワード|秘密|トークン|認証情報|記憶", "送信|送って|送れ|漏ら|公開|転送"),
        (r"api\s{0,3}키|비밀번호|암호|비밀|토큰|기억", "보내|전송|업로드|공개|유출"),
    ),
    # What a shell is told is the same in every language.
    OVERRIDE_AND_RUN: re.compile(
        r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n]{0,200}\|\s{0,3}(?:sudo\s{1,3})?"
        r"(?:(?:ba|z|da)?sh|python3?|iex|node)\b"
        r"|\b(?:ba)?sh\s{1,3}(?:-c\s{1,3})?[\"'(<$]{1,4}\s{0,3}(?:curl|wget)\b"
        r"|\brm\s{1,3}-(?:rf|fr)\s{1,3}[~/$]|\bpowershell\b[^\n]{0,80}-enc"
    ),
}
