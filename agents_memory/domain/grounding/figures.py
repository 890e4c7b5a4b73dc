"""Numbers in digits of any script and in words, as far as they can be told for certain."""

import re
import unicodedata

# One is an article in half of these languages. Words that are everyday words of another language
# are left out: once, due, sei.
_WORDS = {
    2: "two zwei deux dos dois duas twee dwa dwie два две две́ 둘 दो",
    3: "three drei trois tres três tre drie trzy üç три трёх трех 셋 तीन",
    4: "four vier quatre cuatro quatro quattro cztery dört четыре четырёх 넷 चार",
    5: "five fünf cinq cinco cinque vijf pięć beş пять пяти 다섯 पाँच",
    6: "six sechs seis zes sześć altı шесть шести 여섯",
    7: "seven sieben sept siete sete sette zeven siedem yedi семь семи 일곱",
    8: "eight acht huit ocho oito otto osiem sekiz восемь восьми 여덟",
    9: "nine neun neuf nueve nove negen dziewięć dokuz девять девяти 아홉",
    10: "ten zehn dix diez dez dieci tien dziesięć on десять десяти",
    11: "eleven elf onze undici jedenaście одиннадцать",
    12: "twelve zwölf douze doce doze dodici twaalf dwanaście двенадцать",
    15: "fifteen fünfzehn quinze quince quindici пятнадцать",
    20: "twenty zwanzig vingt veinte vinte venti twintig dwadzieścia yirmi двадцать",
    30: "thirty dreißig trente treinta trinta trenta dertig trzydzieści otuz тридцать",
    50: "fifty fünfzig cinquante cincuenta cinquenta cinquanta vijftig elli пятьдесят",
    100: "hundred hundert cent cien cem cento honderd yüz сто",
    1000: "thousand tausend mille mil duizend tysiąc bin тысяча",
}
_VALUES = {
    word: str(number)
    for number, words in _WORDS.items()
    for word in words.split()
    # Turkish on is 10, and bin 1000: two of the commonest words of English and German.
    if word not in ("on", "bin")
}
_HAN = {
    **dict(zip("零一二三四五六七八九十", map(str, range(11)), strict=True)),
    "〇": "0",
    "两": "2",
    "百": "100",
    "千": "1000",
    "万": "10000",
}
_TOKEN = re.compile(r"\d+(?:[.,'’\u066b\u066c]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")


def numbers_missing(statement: str, text: str) -> bool:
    """Whether a number of `statement` does not stand in `text`."""
    there, words_there = _digits(text), _in_words(text)
    whole = {_joined(token) for token in there}
    parts = {part for token in there for part in _parts(token)} | words_there
    for token in _digits(statement):
        if _joined(token) not in whole | parts and not _parts(token) <= parts:
            return True
    return not _in_words(statement, han=False) <= whole | parts


def han_number(character: str, text: str) -> bool:
    """Whether `text` has in digits what a numeral of Chinese says."""
    value = _HAN.get(character)
    return value is not None and value in {_joined(token) for token in _digits(text)}


def _digits(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKC", text)
    return {
        "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in token)
        for token in _TOKEN.findall(plain)
    }


def _joined(token: str) -> str:
    return re.sub(r"\D", "", token).lstrip("0") or "0"


def _parts(token: str) -> set[str]:
    return {part.lstrip("0") or "0" for part in re.findall(r"\d+", token)}


def _in_words(text: str, *, han: bool = True) -> set[str]:
    found = {_VALUES[word] for word in _WORD.findall(text.casefold()) if word in _VALUES}
    # Of a Chinese statement its characters are compared, as all of them are.
    return found | {_HAN[c] for c in text if c in _HAN} if han else found
