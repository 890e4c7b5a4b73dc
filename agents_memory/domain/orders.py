"""Whether what a model wrote tells somebody to do something, in a dozen languages.

A tag names what a text is about, a statement says what was said, and both are shown ever after. An
order in them would be read as one that somebody gave.
"""

import re
import unicodedata
from collections.abc import Iterable

from agents_memory.domain.screening import commands
from agents_memory.domain.values import words

MAX_WORDS = 5
"""A longer tag is a sentence."""

_VERBS = words(
    """approve authorize authorise send delete erase wipe execute forward transfer pay wire upload
    email reveal disclose leak exfiltrate share install download disable grant give obey ignore
    forget override bypass trust allow accept reply respond tell
    sende sendet schick schicke überweise lösche genehmige erlaube führe leite gib verrate ignoriere
    vergiss installiere lade teile akzeptiere bezahle zahle
    envía envia manda aprueba borra elimina ejecuta paga transfiere revela comparte instala ignora
    olvida acepta
    envoie envoyez approuve approuvez supprime supprimez exécute exécutez paie payez transfère
    partage révèle oublie installe accepte
    invia approva cancella esegui trasferisci rivela condividi accetta
    envie mande aprove apague exclua pague transfira revele compartilhe aceite
    отправь отправляй пришли удали удаляй одобри одобряй выполни выполняй оплати переведи раскрой"""
)
# Orders only behind a word that presses: asked, some are names of things too.
_PRESSED = _VERBS | words(
    """ask confirm push run skip merge deploy answer say mention warn notify listen give deny
    question doubt hesitate disagree check verify report publish
    frag frage bestätige bestätigen starte prüfe erwähne warne antworte sag sage
    pregunta confirma responde di avisa despliega demande demandez confirme réponds dis
    chiedi conferma rispondi pergunte confirme responda спрашивай подтверждай отвечай говори"""
)
# What an order is about, rather than the name of a thing: send-mail is one, send-keys-to is not.
_REACH = words(
    """to every everything all any anything always without the this these your my me us with from
    an alle alles jede jeden jedes immer ohne die das den deine meine mir uns weiter
    a todo todos toda todas cada sin los las el la tu mis siempre
    à tous toutes tout chaque sans les le ton mes toujours
    ogni tutti tutte tutto senza sempre para tudo sem os as
    все всё на без каждый каждую всегда"""
)
_ADVERBS = words(
    """please always never must don't dont bitte immer nie niemals siempre nunca toujours jamais
    sempre mai всегда никогда"""
)
# Behind an order for all time, or for at once.
_ENDS = _ADVERBS | words(
    "now immediately jetzt sofort ahora maintenant adesso agora сейчас немедленно"
)
_AT_ONCE = _VERBS | words("push run merge deploy")
_BOUND = re.compile(
    r"(?:you (?:must|shall|should|have to|need to)|du (?:musst|sollst)|debes|tu dois|devi"
    r"|você deve|ты долж\w+) \w+"
)
_WHENEVER = re.compile(r"(?:whenever|every time|each time|sobald|jedes mal|cada vez|chaque fois)\b")
_SHELL = re.compile(
    r"(?:curl|wget|iwr) (?:\S+ ){0,3}(?:\S+\.\w{2,}|(?:ba|z)?sh)\b|(?:run|execute|sudo) rm rf\b"
    r"|act as (?:root|admin|system)\b"
)
_NEGATED = re.compile(r"^(?:do not|don t) ")
_UNASKED = re.compile(
    r"\bwithout (?:any )?(?:ask|confirm|approv|permission|review|question)\w*"
    r"|\bohne (?:\w+ )?(?:zu fragen|nachfrage|rückfrage|bestätigung|zustimmung)"
    r"|\bsin (?:preguntar|confirmar|permiso)|\bsans (?:demander|confirm\w*|permission)"
    r"|\bsenza (?:chiedere|conferma)|\bsem (?:perguntar|confirmar)"
    r"|\bне спрашивая|\bбез (?:спроса|подтверждения)"
)
_EAST_ACTS = re.compile(
    "发送|发给|發送|删除|刪除|批准|执行|執行|转账|轉帳|支付|泄露|忽略"
    "|送信|送って|削除|承認|実行|支払|無視|보내|삭제|승인|실행|결제|송금|무시"
)
_EAST_REACH = re.compile(
    "所有|全部|一切|每|给|發到|发到|不要|无需|無需|不问|总是|總是|すべて|全て|常に|必ず|せずに|なしで"
    "|모든|모두|항상|반드시|없이|말고"
)


def orders(tag: str) -> bool:
    """Whether a normalised tag is an order, or a whole sentence."""
    text = tag.replace("-", " ")
    found = text.split()
    if len(found) > MAX_WORDS or commands(text) or _UNASKED.search(text):
        return True
    if _EAST_ACTS.search(text) and _EAST_REACH.search(text):
        return True
    if len(found) < 3:
        return False
    if _BOUND.match(text) or _SHELL.match(text):
        return True
    negated = _NEGATED.sub("", text)
    pressed = found[0] in _ADVERBS or negated != text
    acts = negated.split() if negated != text else found[pressed:]
    if pressed:
        return acts[0] in _PRESSED
    if found[-1] in _ENDS:
        return acts[0] in _AT_ONCE
    if _WHENEVER.match(text):
        return not _PRESSED.isdisjoint(found)
    return acts[0] in _VERBS and not _REACH.isdisjoint(acts[1:])


def gives_order(line: str, said: Iterable[str]) -> bool:
    """Whether a statement is an order that none of the texts it rests on gives.

    One that drops instructions, or speaks with the voice of a system, is one in any case, as is one
    to act unasked. What somebody did say ("never push on Fridays") is a statement about that.
    """
    plain = _plain(line)
    if commands(line) or _MARKED.search(plain):
        return True
    order = any(map(_orders, _sentences(plain)))
    if not order:
        return False
    if _VOICED.match(plain) or _UNASKED.search(plain):
        return True
    return not any(_orders(sentence) for text in said for sentence in _sentences(_plain(text)))


def _orders(sentence: str) -> bool:
    """Whether a sentence tells its reader, or an agent, what to do."""
    sentence = _VOICED.sub("", sentence)
    if _OBLIGED.search(sentence):
        return True
    if _EAST_ACTS.search(sentence) and _EAST_REACH.search(sentence):
        return True
    bare = _FROM_NOW.sub("", sentence)
    negated = _NOT.sub("", bare)
    found = re.findall(r"[\w'’-]+", negated)
    if not found:
        return False
    if found[0] in _ADVERBS:
        return len(found) > 1 and found[1] in _PRESSED
    if negated != sentence:
        return found[0] in _PRESSED
    return found[0] in _ONLY_VERBS or (found[0] in _VERBS and found[1:2] in _DIRECT)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _sentences(plain: str) -> list[str]:
    return [found for raw in _ENDINGS.split(plain) if (found := raw.strip(" \t-*•#>\"'“”„"))]


# Never the names of things where a sentence begins with them.
_ONLY_VERBS = words(
    """approve authorize authorise send delete erase wipe execute reveal disclose exfiltrate obey
    ignore disregard bypass tell lösche genehmige überweise sende schicke verrate ignoriere envía
    aprueba borra elimina envoie envoyez approuve approuvez supprime supprimez invia approva
    cancella envie aprove apague отправь отправляй удали удаляй одобри одобряй"""
)
_DIRECT = [[word] for word in sorted(_REACH)]
_FROM_NOW = re.compile(
    r"^(?:from now on|henceforth|in future|ab (?:jetzt|sofort)|von nun an|künftig|a partir de ahora"
    r"|désormais|d['’]ora in poi|de agora em diante|отныне|впредь)[, ]+"
)
_NOT = re.compile(r"^(?:please |bitte )?(?:do not|don['’]?t) ")
_OBLIGED = re.compile(
    r"\b(?:agents?|assistants?|(?:the|an|any|every) (?:ai|model|llm|bot)|claude|chatgpt|you)"
    r" (?:\w+ )?(?:must|should|shall|may|can|have to|has to|need to|needs to|(?:is|are) to"
    r"|(?:is|are) (?:allowed|permitted|free|required) to)\b"
    r"|\b(?:agent(?:en)?|assistent(?:en)?|ki|modell|du) (?:muss|musst|müssen|soll|sollst|sollen"
    r"|darf|darfst|dürfen)\b"
    r"|\b(?:muss|müssen|soll|sollen|darf|dürfen) (?:der|die|das|ein|jeder) (?:agent(?:en)?"
    r"|assistent(?:en)?|ki|modell)\b"
    r"|\b(?:agentes?|asistentes?|assistentes?) (?:deben?|devem?|pueden?|podem?|pode|deve|devono)\b"
    r"|\b(?:agents?|assistants?) (?:doit|doivent|peut|peuvent)\b"
    r"|\b(?:agenti|agente) (?:devono|deve)\b"
    r"|(?:агент|ассистент)\w* (?:долж\w+|обязан\w*|может|могут)"
)
_VOICED = re.compile(
    r"^\W{0,4}(?:system(?:[ -]?(?:prompt|message|nachricht))?|assistant|developer|système|sistema"
    r"|система|系统|システム|시스템)\W{0,3}[:：]\s*"
)
_MARKED = re.compile(
    r"<\|?/?\s{0,3}(?:system|assistant|developer|im_start)\b|\[/?(?:system|inst)\]"
)
_ENDINGS = re.compile(r"[.!?;\n。！？]+(?:\s|$)|\n")
