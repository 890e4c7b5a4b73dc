"""Whether a tag tells somebody to do something, in a dozen languages: a tag names what a text is
about, and is shown with it ever after."""

import re

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
    pressed = found[0] in _ADVERBS
    acts = found[1:] if pressed else found
    if acts[0] not in _VERBS:
        return False
    return pressed or not _REACH.isdisjoint(acts[1:])
