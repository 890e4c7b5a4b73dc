"""What is denied in a clause: the words that deny, and how far each reaches."""

import re
from dataclasses import dataclass

# These look like denials and are none.
_HARMLESS = re.compile(
    r"\bnot (?:only|just|to mention)\b|\b(?:not|\w{1,30}n['’]t|never) forget\b|"
    r"\bno (?:problem|worries|doubt|matter)\b|\bwhy not\b|\bnicht (?:nur|zuletzt)\b|"
    r"\bvergiss\b.{0,12}\bnicht\b|"
    r"\bnicht vergessen\b|\bne pas oublier\b|\bn['’]oublie[zs]? pas\b|\bpas seulement\b|"
    r"\bno (?:sólo|solo|olvides?|olvidar)\b|\bnão (?:só|apenas|esqueça)\b|"
    r"\bnon (?:solo|dimenticare)\b|"
    r"\bniet (?:alleen|vergeten)\b|\bnie tylko\b|\bне (?:только|забудь|забудьте|забыть)\b|"
    r"不[仅但过错断同久得了]|无论|非常|特别|别的|[分区差级类]别|未来|(?:不要|别)忘|"
    r"なければ(?:ならない|なりません)|かもしれ(?:ない|ません)|(?:しか|だけで)(?:は)?な[いく]|少なくない|忘れないで|"
    r"뿐만 아니라|않을 수 없|잊지 마|\bلا (?:بد|تنس)|ไม่เพียง|לא רק",
    re.IGNORECASE,
)
# In pieces it would be other words: "won" is no part of "won't".
CONTRACTED = re.compile(r"\b\w{1,30}n['’]t\b", re.IGNORECASE)
# Words that deny what follows them.
_FORWARD = re.compile(
    r"\b\w{1,30}n['’]t\b|\b(?:do|does|did|ca|wo|is|are|was|were|should|would|could|has|have|had)nt\b|"
    r"\bcannot\b|\bnot\b|\bnever\b|\bno\b|\bnone\b|\bnobody\b|\bno one\b|\bnothing\b|"
    r"\bneither\b|\bnor\b|"
    r"\b(?:stop(?:s|ped)?|quit)(?= \w+ing\b)|\bavoid(?:s|ed|ing)?\b|\binstead of\b|\brather than\b|"
    r"\b(?:decided?s?|votes?d?|advised?s?) against\b|\bgegen\b(?=.*\bent(?:schied|schloss))|"
    r"\bkein(?:e|en|em|er|es|erlei)?\b|\bnie(?:mals|mand)?\b|\bnichts\b|\bstatt\b|"
    r"\bn(?:e\s|['’])[\w'’]{1,30}(?:\s[\w'’]{1,30})?\s(?:pas|plus|jamais|rien|personne|aucune?|guère)\b|"
    r"\bne\b|\bn['’](?=\w)|\bjamais\b|\bplus de\b|\baucune?\b|\bau lieu d\w?\b|"
    r"\bnunca\b|\bjamás\b|\bnadie\b|\bningun[oa]?\b|\bningún\b|\btampoco\b|\ben vez de\b|"
    r"\b(?:deja|dejó|dejamos|dejé|dejaron) de\b|\bnão\b|\bnenhum[a]?\b|\bnon\b(?!-)|"
    r"\bnessun[oa]?\b|"
    r"\binvece di\b|\bgeen\b|\bnooit\b|\bnikt\b|\bnigdy\b|\bżaden\b|"
    r"\bне\b|\bнет\b|\bни\b|\bникогда\b|\bникто\b|\bнельзя\b|\bні\b|\bвместо\b|"
    r"不再|不|没有?|沒有?|未|别|勿|\b(?:لا|لم|لن|ليس|ليست|لسنا|لست)\b|\b(?:לא|אין|אף)\b|ไม่|"
    r"\b(?:inte|aldrig|ikke|ingen)\b",
    re.IGNORECASE,
)
# These take away what follows them, whatever else denies it.
_LACKING = re.compile(
    r"\b(?:without|ohne|sans|sin|sem|senza|zonder|bez|без|بدون|دون|בלי|ללא)\b|没有(?=.*的)",
    re.IGNORECASE,
)
# Words that deny their whole clause, wherever they stand in it.
_WHOLE = re.compile(
    r"\bnicht\b|\bniet\b|\bdeğil\b|\byok\b|\b\w{1,30}(?:m[ıiuü]yor|maz|mez|madı|medi|mayacak|meyecek)|"
    r"ない|なかった|ません|なく[てな]|ず[にな]|않|못|(?<!\S)안\s|없[^이]|아니|지\s?마|नहीं|मत\b",
    re.IGNORECASE,
)
# Where a denial that reaches forward ends.
_END = re.compile(
    r"\b(?:and|or|und|oder|et|ou|y|o|e|и|или|ve)\b|(?<=\s)و(?=\w)|和|或|\bבו?גם\b", re.IGNORECASE
)
# What is only thought of.
_TENTATIVE = re.compile(
    r"\b(?:might|maybe|perhaps|possibly|probably|considering|thinking (?:of|about)|not sure|"
    r"vielleicht|eventuell|womöglich|könnten?|überleg\w*|peut-être|quizás?|a lo mejor|forse|"
    r"talvez|misschien|może|belki|возможно|наверное)\b|"
    r"может быть|也许|可能|或许|かもしれ|아마|ربما|אולי|शायद",
    re.IGNORECASE,
)
# A report that calls it so.
_REPORTED = re.compile(
    r"\b(?:may|could|would|plan\w*|consider\w*|think\w*|wonder\w*|suspect\w*|likely|idea|wants?|"
    r"option|envisage|piensa|pensa|wil|хочет|думает)\b|打算|考虑|想|検討|고려|생각",
    re.IGNORECASE,
)
# With one of these it depends: nothing can be told without understanding.
_UNDECIDED = re.compile(
    r"\b(?:only|except|unless|until|hardly|barely|nur|außer|bis|kaum|sauf|seulement|jusqu\w*|salvo|excepto"
    r"|hasta|solo|sólo|tranne|finché|somente|até|tylko|oprócz|dopóki|только|кроме|пока|behalve|alleen"
    r"|sadece|hariç|إلا|فقط|רק|למעט)\b|只|除|直到|だけ|しか|以外|まで|만 |제외|외에",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Denials:
    """Of one clause: spans that deny, by (start, end, kind)."""

    forward: tuple[tuple[int, int], ...]
    lacking: tuple[tuple[int, int], ...]
    whole: bool

    def count_at(self, place: int) -> int | None:
        """How often the word at a place is denied; None where that cannot be told.

        What stands before a denial may be its subject: of "Kafka is not used" nothing is known of
        Kafka. Two words that deny together count once, as they do in most languages.
        """
        reaching = any(start <= place < end for start, end in self.forward) or self.whole
        lacking = any(start <= place < end for start, end in self.lacking)
        if not reaching and not lacking:
            starts = [start for start, _ in (*self.forward, *self.lacking)]
            if any(place < start for start in starts):
                return None
        return reaching + lacking


def denials(clause: str) -> Denials:
    """What is denied in a clause."""
    plain = _HARMLESS.sub(lambda found: " " * len(found[0]), clause)
    return Denials(_reach(_FORWARD, plain), _reach(_LACKING, plain), bool(_WHOLE.search(plain)))


def undecided(clause: str) -> bool:
    """Whether a clause makes an exception, so that it says two things."""
    return _UNDECIDED.search(clause) is not None


def supposes(clause: str) -> bool:
    """Whether a clause only thinks of something."""
    return _TENTATIVE.search(clause) is not None


def asserts(clause: str) -> bool:
    """Whether a clause says that something is so, without a word of doubt or of reporting one."""
    return not supposes(clause) and _REPORTED.search(clause) is None


def _reach(pattern: re.Pattern[str], clause: str) -> tuple[tuple[int, int], ...]:
    return tuple(
        (found.start(), end.start() if (end := _END.search(clause, found.end())) else len(clause))
        for found in pattern.finditer(clause)
    )
