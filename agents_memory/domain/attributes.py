"""What a plain statement says about its subject, in English, German and Chinese: only when certain.

Whole sentences of a few shapes count, with an attribute of which there is one at a time and a value
of its own sort ("My favourite colour is green", "Ich arbeite bei Siemens", "我的生日是5月4日").
Everything else has no attribute: somebody else's, one of several, a time, a denial, two clauses,
or a predicate that is no value ("My favourite restaurant is closed").
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from agents_memory.domain import values
from agents_memory.domain.text import content_key
from agents_memory.domain.values import Sort, words

MAX_CHARS = 120


@dataclass(frozen=True, slots=True)
class Said:
    """An attribute by its key, and the value as words that can be compared; none: not known."""

    attribute: str
    value: tuple[str, ...]


def attribute_key(name: str) -> str:
    """One key for the ways to write the name of an attribute."""
    key = content_key(name.replace("_", " ").replace("-", " "))
    return " ".join(_SPELLINGS.get(word, word) for word in key.split())


def derived(subject: str, content: str) -> Said | None:
    """The attribute that a statement is certainly about; None unless it is."""
    text = " ".join(unicodedata.normalize("NFKC", content).replace("’", "'").split())
    text = text.rstrip(".!。 ")
    if not 0 < len(text) <= MAX_CHARS:
        return None
    for shape in _SHAPES:
        found = shape.pattern.fullmatch(text)
        if found is None:
            continue
        name = attribute_key(shape.only or found["name"])
        sort = shape.sorts.get(name)
        if sort is None or not _is_about(content_key(subject), found["owner"]):
            return None
        value = sort(found["value"])
        return None if value is None else Said(shape.key.format(name), value)
    return None


def _is_about(subject: str, owner: str | None) -> bool:
    """Whether the owner of an attribute, None for the speaker, is the subject of the memory."""
    if owner is None or content_key(owner) in _SELVES:
        return subject in _SELVES
    return content_key(owner) == subject


_SPELLINGS = {"favorite": "favourite", "color": "colour"}
_SELVES = words("user me i myself ich nutzer nutzerin benutzer 用户 我") | {"the user"}

_TASTE: Mapping[str, Sort] = {
    "colour": values.colour,
    "season": values.season,
    "day": values.weekday,
    "month": values.month,
    "number": values.number,
} | dict.fromkeys(
    words(
        """actor actress singer author writer painter composer band player footballer film movie
        book novel game city town country restaurant editor airline database"""
    ),
    values.proper_name,
)
_PERSON: Mapping[str, Sort] = {
    "birthday": values.day_of_year,
    "phone number": values.telephone,
    "email address": values.email,
    "blood type": values.blood_type,
    "shoe size": values.number,
} | dict.fromkeys(
    ("name", "first name", "last name", "surname", "maiden name", "hometown", "employer"),
    values.proper_name,
)
_LIEBLING: Mapping[str, Sort] = (
    {
        "farbe": values.colour,
        "jahreszeit": values.season,
        "wochentag": values.weekday,
        "monat": values.month,
        "zahl": values.number,
    }
    | dict.fromkeys(
        words("fach instrument stadt land band film buch spiel lied restaurant café editor"),
        values.german_noun,
    )
    | dict.fromkeys(words("sänger sängerin autor autorin spieler spielerin"), values.full_name)
)
_MENSCH: Mapping[str, Sort] = {
    "name": values.proper_name,
    "vorname": values.proper_name,
    "nachname": values.proper_name,
    "geburtsname": values.proper_name,
    "geburtstag": values.day_of_year,
    "telefonnummer": values.telephone,
    "handynummer": values.telephone,
    "blutgruppe": values.blood_type,
    "schuhgrösse": values.number,
}
_HAN_TASTE: Mapping[str, Sort] = (
    {
        "颜色": values.han_colour,
        "季节": values.han_season,
        "数字": values.number,
    }
    | dict.fromkeys(words("歌手 演员 作家 球员 城市 编程语言 编辑器 乐器 科目"), values.han_word)
    | dict.fromkeys(words("电影 书 小说 游戏"), values.han_title)
)
_HAN_PERSON: Mapping[str, Sort] = {
    "名字": values.han_word,
    "姓名": values.han_word,
    "生日": values.han_day,
    "手机号": values.telephone,
    "电话号码": values.telephone,
    "邮箱": values.email,
    "血型": values.blood_type,
    "鞋码": values.number,
}
_EMPLOYER: Mapping[str, Sort] = {"employer": values.proper_name}


@dataclass(frozen=True, slots=True)
class _Shape:
    """A sentence. Its groups: `owner`, `value`, and `name` of the attribute if it is not `only`."""

    pattern: re.Pattern[str]
    key: str
    sorts: Mapping[str, Sort]
    only: str | None = None


_ONE = r"(?P<owner>[^\W\d_][\w-]*(?: [\w-]+)?)"
_NOW, _JETZT = "(?:now |currently )?", "(?:jetzt |nun )?"
_MY, _MEIN = rf"(?:[Mm]y|{_ONE}'s)", r"(?:[Mm]eine?|(?P<owner>[^\W\d_][\w-]*?)'?s)"
_VALUE = "(?P<value>.+)"
_SHAPES = tuple(
    _Shape(re.compile(pattern), key, sorts, *only)
    for pattern, key, sorts, *only in (
        (rf"{_MY} favou?rite (?P<name>[a-z]+) is {_NOW}{_VALUE}", "favourite {}", _TASTE),
        (rf"{_MY} (?P<name>[a-z]+(?: [a-z]+)?) is {_NOW}{_VALUE}", "{}", _PERSON),
        (rf"(?:I {_NOW}work|{_ONE} {_NOW}works) at {_VALUE}", "{}", _EMPLOYER, "employer"),
        (rf"{_MEIN} Lieblings(?P<name>[a-zäöüß]+) ist {_JETZT}{_VALUE}", "lieblings{}", _LIEBLING),
        (
            rf"{_MEIN} (?P<name>[A-ZÄÖÜ][a-zäöüß]+) (?:ist|lautet) {_JETZT}(?:der |am )?{_VALUE}",
            "{}",
            _MENSCH,
        ),
        (
            rf"(?:Ich arbeite|{_ONE} arbeitet) {_JETZT}bei {_VALUE}",
            "{}",
            _EMPLOYER,
            "employer",
        ),
        (
            rf"(?:我|(?P<owner>用户))(?:现在)?最喜欢的(?P<name>[^\W\d_的]+?)(?:现在)?是{_VALUE}",
            "最喜欢的{}",
            _HAN_TASTE,
        ),
        (
            rf"(?:我|(?P<owner>用户))的(?P<name>[^\W\d_的]+?)(?:现在)?是{_VALUE}",
            "{}",
            _HAN_PERSON,
        ),
    )
)
