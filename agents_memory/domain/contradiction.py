"""Which statement outdates which: decided by subject and attribute, never by likeness alone."""

import re

from agents_memory.domain.attributes import Said, attribute_key, derived
from agents_memory.domain.duplicates import same_subject
from agents_memory.domain.statements import Statement
from agents_memory.domain.text import content_key
from agents_memory.domain.trust import at_least
from agents_memory.domain.values import words

# Of these there may be several at a time, or the word says nothing of what is stated.
_SEVERAL = words(
    """hobby hobbies interest interests skill skills language languages allergy allergies friend
    friends pet pets child children sibling siblings project projects tool tools like likes dislike
    dislikes note notes fact facts preference preferences decision decisions promise promises
    milestone milestones pattern patterns event events activity activities experience experiences
    goal goals plan plans trip trips travel visit visits opinion opinions family health food history
    hobbys interesse interessen fähigkeit fähigkeiten sprache sprachen allergie allergien freund
    freunde haustier haustiere kind kinder geschwister projekt projekte notiz notizen ereignis
    ereignisse ziel ziele reise reisen vorliebe vorlieben abneigung abneigungen
    爱好 兴趣 技能 语言 过敏 朋友 宠物 孩子 项目 喜好 事件 目标 计划 旅行"""
)
# What was so once says nothing of now.
_PAST = re.compile(
    r"\b(?:used to|formerly|previously|once was|back then|at the time|in (?:19|20)\d\d|until"
    r"|as a (?:child|kid|boy|girl|teenager)|als (?:Kind|Jugendliche[r]?)"
    r"|früher|damals|ehemals|einst"
    r"|(?:im Jahre? |anno |bis )(?:19|20)\d\d)\b"
    r"|以前|曾|过去|当时|那时|小时候|(?:19|20)\d\d年",
    re.IGNORECASE,
)
_HAN = re.compile("[\u4e00-\u9fff]")


def outdates(newer: Statement, older: Statement) -> bool:
    """Whether `older` holds no more since `newer` was said.

    Both are about one attribute of one subject, of which there is one value at a time, and give it
    different values; the newer is later, and no less trusted: what the owner said stands until the
    owner says otherwise.
    """
    if (newer.said_at, newer.id) <= (older.said_at, older.id):
        return False
    return at_least(newer.trust, older.trust) and contradict(newer, older)


def contradict(one: Statement, other: Statement) -> bool:
    """Whether two statements give one attribute of one subject different values."""
    if not same_subject(one.subject, other.subject):
        return False
    first, second = _about(one), _about(other)
    if first is None or second is None or first.attribute != second.attribute:
        return False
    if first.value and second.value:
        return _differ(first.value, second.value)
    return content_key(one.content) != content_key(other.content)


def names_one_value(attribute: str) -> bool:
    """Whether a named attribute has one value at a time."""
    return _SEVERAL.isdisjoint({attribute_key(attribute), attribute_key(attribute).split(" ")[-1]})


def _about(statement: Statement) -> Said | None:
    """The attribute a statement is about: the one its author named, else what its words tell."""
    said = derived(statement.subject, statement.content)
    if statement.attribute is None:
        return said
    if not names_one_value(statement.attribute) or _PAST.search(statement.content):
        return None
    key = attribute_key(statement.attribute)
    return Said(key, said.value if said is not None and said.attribute == key else ())


def _differ(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether neither value only says more exactly, or more shortly, what the other says."""
    first, second = " ".join(one), " ".join(other)
    if set(one) <= set(other) or set(other) <= set(one):
        return False
    if first.isalpha() and second.isalpha() and (first in second or second in first):
        # Ann and Anna, 蓝 and 深蓝.
        return False
    # Else it may be the same name in two scripts.
    return bool(_HAN.search(first)) == bool(_HAN.search(second))
