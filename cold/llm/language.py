"""In which script and language a text is, as far as it can be told without a model."""

import re
import unicodedata
from collections import Counter

# Scripts that one language mixes.
_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}
# Short words that hardly occur in the other languages here.
_FUNCTION_WORDS = {
    "en": "the and is are was were that this with for you have has had not they their would",
    "de": "der die das und ist nicht ein eine mit für auf sich auch dem den wird sind haben ich",
    "fr": "les des est une dans que qui pour pas sur avec vous nous sont cette aux ont ses leur",
    "es": "los las una que por con para está pero como más sus son ella esto muy también hay",
    "pt": "uma não com para mais como dos das são seu sua ele ela isso está também muito foi",
    "it": "che non per una sono con della degli gli più anche questo nella come suo loro è",
    "nl": "het een van niet zijn voor met dat wordt ook aan maar heeft naar deze bij geen",
    "pl": "nie się jest na że do to jak ale przez dla tego są oraz był która przy",
    "tr": "bir ve bu için ile değil çok olarak daha gibi olan ama kadar sonra var",
    "ru": "и в не на что с по это как но он она из за для был было они",
    "uk": "і в не на що з це як але він вона за для був було вони та є",
}
_LANGUAGES: dict[str, tuple[str, ...]] = {}
for _language, _words in _FUNCTION_WORDS.items():
    for _word in _words.split():
        _LANGUAGES[_word] = (*_LANGUAGES.get(_word, ()), _language)

_WORD = re.compile(r"[^\W\d_]+")
# Of a long text its beginning tells enough.
_LOOKED_AT = 20_000
_LEAST_LETTERS = 12
_LEAST_WORDS = 4
_SHARE_OF_SOURCE = 0.1


def scripts(text: str) -> Counter[str]:
    """How many letters of each script, by the first word of their Unicode names."""
    counted: Counter[str] = Counter()
    for character, times in Counter(text[:_LOOKED_AT]).items():
        if character.isalpha():
            name = unicodedata.name(character, "OTHER").split()[0]
            counted[_TOGETHER.get(name, name)] += times
    return counted


def languages(text: str) -> Counter[str]:
    """How many function words of each language."""
    counted: Counter[str] = Counter()
    for word in _WORD.findall(text[:_LOOKED_AT].casefold()):
        counted.update(_LANGUAGES.get(word, ()))
    return counted


def keeps_language(text: str, source: str) -> bool:
    """Whether `text` is in a script and, where both can be told, in a language of `source`.

    True where there is too little to tell by.
    """
    letters = scripts(text)
    if letters.total() < _LEAST_LETTERS:
        return True
    [(script, _)] = letters.most_common(1)
    there = scripts(source)
    if there.total() and there[script] < _SHARE_OF_SOURCE * there.total():
        return False
    spoken, heard = _clear(languages(text)), languages(source)
    if spoken is None or _clear(heard) is None:
        return True
    return heard[spoken] >= _SHARE_OF_SOURCE * heard.most_common(1)[0][1]


def _clear(counted: Counter[str]) -> str | None:
    """The language that has at least twice the function words of any other."""
    ranked = counted.most_common(2)
    if not ranked or ranked[0][1] < _LEAST_WORDS:
        return None
    if len(ranked) > 1 and ranked[0][1] < 2 * ranked[1][1]:
        return None
    return ranked[0][0]
