"""Values of attributes by their sort: what may be compared, and what is no value at all.

Each sort gives the words to compare, None for what is not certainly a value of it. Open classes of
common nouns are left out: a dachshund is a dog, and would not take its place.
"""

import re
from collections.abc import Callable

Value = tuple[str, ...] | None
Sort = Callable[[str], Value]


def words(text: str) -> frozenset[str]:
    """The words of a list, without case."""
    return frozenset(text.casefold().split())


_NAME = re.compile(r"[^\W\d_a-z][\w.'&-]*(?: [^\W\d_a-z][\w.'&-]*){0,3}")
_NOUN = re.compile(r"[A-ZÄÖÜ][a-zäöüß]+(?:-[A-ZÄÖÜ][a-zäöüß]+)?")
# Without what makes a predicate, a list, a denial or a question of it.
_HAN = re.compile(
    r"(?![很不没有也都在被最])(?:(?![的和或与及])[\u4e00-\u9fff]){2,8}(?<![了吗呢吧啊])"
    r"|[A-Za-z][\w+#.-]{0,19}"
)
_TELEPHONE = re.compile(r"\+?[0-9][0-9 ()/-]{4,18}[0-9]")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DAY = re.compile(
    r"(?:on )?(?:the )?(?:(?P<day>[0-9]{1,2})(?:st|nd|rd|th|\.)? (?:of )?(?P<month>[^\W\d_]+)"
    r"|(?P<first>[^\W\d_]+) (?P<second>[0-9]{1,2})(?:st|nd|rd|th)?)"
)
_HAN_DAY = re.compile(r"([0-9]{1,2})月([0-9]{1,2})[日号]")
_BLOOD = re.compile(r"(AB|A|B|0|O)(?:型| ?[+-]| (?:positive|negative|positiv|negativ))?")
_HAN_TITLE = re.compile("《[^《》]{1,20}》")
# These end what somebody or something is, not who or which: 日本人, 弦乐器, 必修课.
_HAN_SORT = re.compile(r"[人生员家手者星男女音器课科]\Z")
_HAN_COLOUR = re.compile(r"[深浅]?[红蓝绿黄橙紫粉棕黑白灰]色?")
_HAN_SEASON = re.compile(r"([春夏秋冬])[天季]?")

# Said of many a thing without naming another one in its place.
_PREDICATES = words(
    """american british english german french italian spanish chinese japanese korean russian
    turkish dutch polish swedish norwegian danish finnish greek portuguese brazilian mexican
    canadian australian austrian swiss irish scottish welsh indian african asian european arab
    arabic jewish israeli iranian ukrainian catholic protestant muslim christian buddhist hindu
    ceo cto cfo coo vp gp md phd christmas easter thanksgiving ramadan hanukkah victorian gothic
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december
    kult meister schrott geschichte pflicht geschmackssache quatsch klasse spitze weltklasse mist
    absteiger aufsteiger marktführer pleite geheimsache zufall tradition luxus programm nacht tag
    tageslicht regen kerzenlicht bedarf hitze kälte wind mama papa freunden kollegen gelegenheit
    vollmond ebbe flut licht musik sonne schnee hauptstadt weltmeister europameister gastgeber
    gewinner sieger bestseller ohrwurm pflichtlektüre schullektüre hauptfach nebenfach wahlfach
    pflichtfach teil dreiteiler vorgruppe ausland neuland heimat
    首都 省会 县城 港口 古都 必修 选修 主科 副科
    免费 公开 秘密 过去 未来 经典 垃圾 奢侈品 时候 今天 昨天 明天"""
)
_COLOURS = words(
    """red blue green yellow orange purple pink brown black white grey
    rot blau grün gelb lila rosa braun schwarz weiß grau"""
)
_SHADES = words("light dark pale bright deep hell dunkel")
_SEASONS = words("spring summer autumn winter frühling sommer herbst")
_WEEKDAYS = words(
    """monday tuesday wednesday thursday friday saturday sunday
    montag dienstag mittwoch donnerstag freitag samstag sonntag"""
)
_MONTHS = words(
    """january february march april may june july august september october november december
    januar februar märz mai juni juli oktober dezember"""
)
_NUMBERS = {
    word: str(number)
    for names in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen",
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn",
        "零 一 二 三 四 五 六 七 八 九 十 十一 十二 十三",
    )
    for number, word in enumerate(names.split())
}
_SPELLINGS = {"gray": "grey", "fall": "autumn"}


def _split(text: str) -> tuple[str, ...]:
    return tuple(_SPELLINGS.get(word, word) for word in text.casefold().split())


def _among(known: frozenset[str]) -> Sort:
    def sort(text: str) -> Value:
        found = _split(text)
        return found if len(found) == 1 and found[0] in known else None

    return sort


def _plain(pattern: re.Pattern[str]) -> Sort:
    def sort(text: str) -> Value:
        found = _split(text)
        return found if pattern.fullmatch(text) and _PREDICATES.isdisjoint(found) else None

    return sort


proper_name = _plain(_NAME)
german_noun = _plain(_NOUN)
han_title = _plain(_HAN_TITLE)
_han_plain = _plain(_HAN)
season, weekday, month = _among(_SEASONS), _among(_WEEKDAYS), _among(_MONTHS)


def full_name(text: str) -> Value:
    """A name of two words or more: a single German noun may be a profession."""
    found = proper_name(text)
    return None if found is None or len(found) < 2 else found


def han_word(text: str) -> Value:
    """A name or a noun in Chinese, or a foreign word in its own letters."""
    return None if _HAN_SORT.search(text) else _han_plain(text)


def colour(text: str) -> Value:
    """One of the basic colours, with a shade or without."""
    *shades, name = _split(text) or ("",)
    known = name in _COLOURS and len(shades) <= 1 and _SHADES.issuperset(shades)
    return (*shades, name) if known else None


def han_colour(text: str) -> Value:
    """The same in Chinese."""
    return (text.removesuffix("色"),) if _HAN_COLOUR.fullmatch(text) else None


def han_season(text: str) -> Value:
    """A season in Chinese."""
    found = _HAN_SEASON.fullmatch(text)
    return None if found is None else (found[1],)


def number(text: str) -> Value:
    """A whole number, in digits or in a word."""
    found = _NUMBERS.get(text.casefold(), text)
    return (str(int(found)),) if re.fullmatch(r"[0-9]{1,9}", found) else None


def day_of_year(text: str) -> Value:
    """A day and a month, in digits and a name."""
    found = _DAY.fullmatch(text)
    if found is None:
        return None
    name = str(found["month"] or found["first"]).casefold()
    return (str(int(found["day"] or found["second"])), name) if name in _MONTHS else None


def han_day(text: str) -> Value:
    """A month and a day in Chinese."""
    found = _HAN_DAY.fullmatch(text)
    return None if found is None else (f"{int(found[1])}月", f"{int(found[2])}日")


def telephone(text: str) -> Value:
    """The end of a telephone number, which is the same with the code of a country and without."""
    return (re.sub(r"\D", "", text)[-7:],) if _TELEPHONE.fullmatch(text) else None


def email(text: str) -> Value:
    """An address."""
    return (text.casefold(),) if _EMAIL.fullmatch(text) else None


def blood_type(text: str) -> Value:
    """The group alone."""
    found = _BLOOD.fullmatch(text)
    return None if found is None else (found[1].replace("0", "O"),)
