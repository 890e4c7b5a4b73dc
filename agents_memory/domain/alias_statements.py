"""What the owner said about names of projects: that two are one, or that they are not."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

from agents_memory.domain.tags import normalise_tag

_QUOTES = "\"'`“”„«»‘’"
_NAME = (
    rf"(?:[{_QUOTES}](?P<Xq>[^{_QUOTES}\n]{{1,50}})[{_QUOTES}]"
    r"|(?<![\w.+#&/-])(?P<Xw>[\w.+#&/-]{1,50}))"
)
_A, _B = _NAME.replace("X", "a"), _NAME.replace("X", "b")
_PROJECT = r"(?:(?:the|our|das)\s+)?(?:(?:project|projekt|repo|repository)\s+)?"
_SAME = r"(?:the\s+)?same(?:\s+(?:project|thing|repo|repository))?"
# What may follow; a noun would change what is meant: the same size, harbor's team, harbor master.
_END = (
    r"(?!\w)(?!['’]s\b)(?=\s*(?:[^\w\s]|$)|\s+in\s+\d|\s+(?:"
    r"now|again|and|but|so|too|since|because|as|last|this|yesterday|today|already|finally"
    r"|everywhere|officially|for|on|at|jetzt|nun|und|aber|weil|seit|gestern|heute|letzte\w*"
    r"|endgültig|überall|offiziell|am)\b)"
)

# `a` stands for `b`. Not what shall be renamed: an order may be about a file, a wish may fail.
_STATED = [
    rf"\brenamed\s+{_PROJECT}{_A}\s+(?:to|into|as)\s+{_PROJECT}{_B}{_END}",
    rf"\b(?:I\s+am|I['’]m|we\s+are|we['’]re)\s+(?:now\s+)?renaming\s+{_PROJECT}{_A}\s+(?:to|into|as)\s+{_PROJECT}{_B}{_END}",
    rf"\b(?:I|we)\s+(?:have\s+)?(?:decided|agreed)\s+to\s+rename\s+{_PROJECT}{_A}\s+(?:to|into|as)\s+{_PROJECT}{_B}{_END}",
    rf"{_A}\s+(?:is|was|has\s+been|got)\s+(?:now\s+)?renamed(?:\s+(?:to|into|as))?\s+{_PROJECT}{_B}{_END}",
    # A function is called from somewhere, and people call things as they like.
    rf"{_A}\s+(?:is|was|has\s+been|got)\s+(?:now\s+)?called\s+{_PROJECT}{_B}{_END}(?!\s+(?:on|at)\b)",
    rf"{_A}\s+is\s+(?:now\s+)?(?:{_SAME}\s+as|an\s+alias\s+(?:of|for)|another\s+name\s+for)\s+{_PROJECT}{_B}{_END}",
    rf"{_B},?\s*\(?(?:formerly|früher)\s+{_PROJECT}{_A}(?=\s*(?:[),:;!]|$))",
    rf"{_A}\s+heißt\s+(?:jetzt|nun|ab\s+jetzt)\s+{_PROJECT}{_B}{_END}",
    rf"{_A}\s+(?:wurde|ist|haben\s+wir)\s+in\s+{_PROJECT}{_B}\s+umbenannt",
    rf"{_A}\s+ist\s+dasselbe(?:\s+projekt)?\s+wie\s+{_PROJECT}{_B}{_END}",
    rf"{_A}\s+(?:and|und)\s+{_B}\s+(?:are\s+{_SAME}|sind\s+dasselbe(?:\s+projekt)?){_END}",
]
_DENIED = [
    rf"{_A}\s+(?:is\s+not|isn['’]t)\s+(?:{_SAME}\s+as|an\s+alias\s+(?:of|for)|another\s+name\s+for)\s+{_PROJECT}{_B}",
    rf"{_A}\s+(?:and|und)\s+{_B}\s+(?:are\s+not|aren['’]t|sind\s+nicht)\s+(?:{_SAME}|dasselbe(?:\s+projekt)?){_END}",
    rf"{_A}\s+ist\s+nicht\s+dasselbe(?:\s+projekt)?\s+wie\s+{_PROJECT}{_B}",
    rf"\b(?:don['’]t|do\s+not|won['’]t|will\s+not|not\s+to|never)\s+(?:ever\s+)?rename\s+{_PROJECT}{_A}\s+(?:to|into|as)\s+{_PROJECT}{_B}",
]
STATED = [re.compile(pattern, re.IGNORECASE) for pattern in _STATED]
DENIED = [re.compile(pattern, re.IGNORECASE) for pattern in _DENIED]


def _any(*words: str) -> re.Pattern[str]:
    """Any of the words; `~` at an end stands for whatever follows."""
    listed = " ".join(words).split()
    joined = "|".join(re.escape(w).replace("_", r"\s+").replace(r"\~", r"\w*") for w in listed)
    return re.compile(rf"(?<!\w)(?:{joined})(?!\w)", re.IGNORECASE)


_CONDITION = _any(
    "if unless whether when whenever once until till before after provided assuming assume~",
    "suppos~ otherwise in_case imagine pretend for_example",
    "wenn falls sofern ob sobald bevor bis nachdem angenommen zum_beispiel",
)
_UNDONE = _any(
    "undo~ undid revert~ rollback roll~_back roll~_it_back chang~_it_back took_it_back cancel~",
    "abandon~ abort~ chang~_our chang~_my",
    "rückgängig widerruf~ abgebrochen",
)
# Any of it makes a sentence no plain assertion, wherever it stands. One that is passed over costs a
# question to the owner; one that is believed merges two projects.
_DOUBTS = [
    _CONDITION,
    _UNDONE,
    # Negation, and what comes to the same.
    _any(
        "not no nope nor never neither none nobody nothing cannot without hardly barely scarcely",
        "rarely seldom yet stop stopped keep~ kept stay~ remain~ dream~ hypothetical~ theor~",
        "refus~ deny denied denies reject~ declin~ oppos~ against avoid~ forbid~ forbade prevent~",
        "wrong~ false~ untrue incorrect~ nonsense mistak~ myth lie lies lied jok~ kidding",
        "accident~ instead rather_than except apart_from other_than unlike far_from only minus",
        "almost nearly partly similar~ different~",
        "nicht nie niemals kein~ nein niemand nichts weder ohne kaum statt anstatt außer nur fast",
        "beinahe falsch~ gelogen unwahr~ unsinn quatsch irrtum irrtümlich~ versehentlich scherz",
        "abgelehnt verworfen dagegen",
    ),
    re.compile(
        r"\wn['’]t\b|\b(?:ai|are|ca|could|did|do|does|had|has|have|is|should|was|were|wo|would)nt\b"
        r"|['’](?:ll|d)\b|\b(?-i:may)\b",
        re.IGNORECASE,
    ),
    # What is only wished, planned, asked or thought.
    _any(
        "would could should shall might must can will want~ wish~ plan~ propos~ suggest~ consider~",
        "intend~ intention hope hopes hoped hoping like_to going_to about_to try tries tried",
        "trying attempt~ need~ ask~ request~ demand~ discuss~ debat~ idea wonder~ vot~ maybe",
        "perhaps possibly probably likely seem~ appear~ apparently guess~ think~ thought believ~",
        "unsure doubt~ please let's",
        "würde~ wäre~ hätte~ könnte~ sollte~ soll sollen wollen wollte~ möchte~ muss müssen",
        "müsste~ kann können darf dürfen dürfte~ werden wird vorschlag~ vorgeschlagen schlägt",
        "schlug geplant überleg~ vielleicht möglicherweise vermutlich wahrscheinlich wohl",
        "anscheinend angeblich scheinbar scheint glaub~ denk~ dachte~ frag~ gefragt versuch~ bitte",
    ),
    # What others said.
    _any(
        "said say says saying told tell tells claim~ report~ wrote write writes written mention~",
        "heard hear hears according alleg~ rumor~ rumour~ argu~ insist~ quot~ assert~ state",
        "states stated announc~ reads call calls novel story game example in_the_test in_a_test",
        "sagt sagte~ sagen gesagt meint meinte~ behaupt~ erzähl~ schreibt schrieb~ geschrieben",
        "gehört laut gerücht~ es_heißt",
    ),
    # What did not last; a commit that did it, which may be about anything.
    _any(
        "back restor~ withdr~ fail~ dropped temporar~ briefly anymore any_more for_a_while",
        "for_a_day for_a_moment for_a_week that_renamed which_renamed who_renamed",
        "zurück~ vorübergehend kurz kurzzeitig",
    ),
    # A question without its mark.
    re.compile(
        r"(?:^|:\s*)(?:(?:so|and|but|or|hey|also|und|aber|oder),?\s+)?(?:is|are|was|were|do|does|did"
        r"|has|have|had|why|what|who|how|where|ist|sind|war|waren|wurde|heißt|hat|haben|warum|wieso|wer"
        r"|wie|was|wann)\s",
        re.IGNORECASE,
    ),
]
# What may stand before the subject, or it is of something else: the function, the team of harbor.
_SUBJECT = re.compile(
    r"(?:^|[^\w\s'’]|\b(?:and|but|so|because|as|that|also|now|today|yesterday|meanwhile|finally"
    r"|week|month|year|ago|both|fyi|note|und|aber|denn|weil|dass|heute|gestern|jetzt|inzwischen))\s*"
    r"(?:(?:the|our|my|das|unser|mein)\s+)?(?:(?:project|projekt|repo|repository)\s+)?$",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"(?:no|nope|nein|wrong|falsch|not|just kidding|kidding|quatsch|stimmt nicht)\b"
    r"|(?:that|this|das)(?:['’]s|\s+(?:is|was|ist|war))?\s+(?:\w+\s+)?(?:wrong|false|not|no|nonsense"
    r"|falsch|nicht|quatsch|gelogen)\b",
    re.IGNORECASE,
)
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_EXAMPLE = re.compile(r"\b(?:e\.\s?g|z\.\s?B)\.", re.IGNORECASE)
_LEAD_IN = re.compile(r":[ \t]*\n\s*")
_MARKS = re.compile('["`“”„«»]')
_SENTENCE = re.compile(r"[^\n!?]*?(?:[!?\n]+|\.(?=\s|$)|$)")


@dataclass(frozen=True, slots=True)
class Statement:
    """`tag` is said to be another name of `target`, or `denied` to be."""

    tag: str
    target: str
    denied: bool


def statements_about(text: str, names: Collection[str]) -> frozenset[Statement]:
    """What a text says about names of the registry.

    Only plain assertions say that two names are one: no question, no condition, no wish, nothing
    that somebody else said, that is denied or was undone. Other names say nothing.
    """
    found: dict[frozenset[str], Statement] = {}
    for sentence, kept in _sentences(text):
        for patterns, denied in ((STATED, False), (DENIED, True)):
            if not kept and not denied:
                continue
            for tag, target in _pairs(sentence, patterns, denied):
                if tag in names and target in names and tag != target:
                    # In one sentence what is denied is what is meant.
                    found[frozenset((tag, target))] = Statement(tag, target, denied)
    return frozenset(found.values())


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Sentences that are the writer's own and ask nothing; False where the next takes one back."""
    for pattern, place in ((_FENCED, "\n"), (_QUOTED_LINE, ""), (_EXAMPLE, "for example")):
        text = pattern.sub(place, text)
    text = _LEAD_IN.sub(": ", text)
    sentences = [*filter(None, (found.group().strip() for found in _SENTENCE.finditer(text))), ""]
    for sentence, following in pairwise(sentences):
        asked = "?" in sentence[len(sentence.rstrip("!?")) :]
        if not asked:
            yield sentence, not (_TAKEN_BACK.match(following) or _UNDONE.search(following))


def _pairs(
    sentence: str, patterns: list[re.Pattern[str]], denied: bool
) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        for found in pattern.finditer(sentence):
            tag = normalise_tag(found["aq"] or found["aw"])
            target = normalise_tag(found["bq"] or found["bw"])
            if tag is None or target is None:
                continue
            # A denial too many costs a suggestion, a statement too many merges two projects.
            if not _doubted(sentence, found, [_CONDITION] if denied else _DOUBTS) and (
                denied or _own(sentence[: found.start()], found.re)
            ):
                yield tag, target


def _own(before: str, pattern: re.Pattern[str]) -> bool:
    """Whether what follows `before` is the writer's own word, and about the project itself."""
    if len(_MARKS.findall(before)) % 2:
        return False
    return not pattern.pattern.startswith(_A) or _SUBJECT.search(before) is not None


def _doubted(sentence: str, found: re.Match[str], doubts: list[re.Pattern[str]]) -> bool:
    """Whether any of `doubts` stands in the sentence beside the names."""
    said = sentence
    spans = [found.span(name) for name in ("aq", "aw", "bq", "bw") if found[name] is not None]
    for start, end in sorted(spans, reverse=True):
        # What a project is called is no word of the sentence.
        said = f"{said[:start]}#{said[end:]}"
    return any(doubt.search(said) for doubt in doubts)
