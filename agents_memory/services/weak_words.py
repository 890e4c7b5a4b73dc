"""Words that name no subject, by language; and the language of a text, by its stop words."""

import re
from functools import cache

from yake_rust import Yake

_LANGUAGES = """
    ar bg cz da de el en es et fa fi fr hi hr hu hy id it lt lv nl no pl pt ro ru sk sl sv tr uk
    """
_CALENDAR = """
    abril agosto april august december dezember diciembre dienstag domingo donnerstag enero
    febrero februar february freitag friday januar january jueves juli julio july june juni
    junio lunes mai march martes marzo may mayo mittwoch miércoles monday montag märz november
    noviembre october octubre oktober samstag saturday september septiembre sonntag sunday
    sábado thursday tuesday viernes wednesday
    """
CALENDAR = frozenset(_CALENDAR.split())

# Words that open, close or fill a turn in any chat and name no subject.
_FILLERS = {
    "en": """
        accepted add added adds afternoon ages agreed alright amazing angry answer answers
        applies apply approved ask asked asks awesome back bad become begin begins belong
        belongs big bit block blocks both bring brings broken build built busy button call
        called calls care case catch change changes charm check checks clean clear closes
        compare compute confirmed congrats cool correct cost costs cover covers crazy create
        creates day days dead decide decided decision delete depend depends deploy differ
        differs done draft drop easy eight eleven end ends enough euro euros evening
        exciting exist exists expects explain explains failed fails fast favorite favourite
        feel feels felt fewer find finds fine finish fit fits five fix fixed fixes follow
        forget found four full fun gave give gives glad god goes good great green guess half
        happened happy hard hate hear heard hearing hello hey hi hold holds hope hour hours
        idea import imports inside install instead joke keep keeps kind late lately leave
        leaves left letter line lines list live lives long lost love lovely low luck lucky
        lunch made make makes man matter mean means meant midnight minute minutes mix mixes
        moment money month months morning move moves named names needed needs nice night
        nine noon noted o'clock ok okay old open opens owe part paste people percent perfect
        phew pick place places point points poor pretty print prints promise proper properly
        proud pull put puts question ran read reads ready real reason recent reload remember
        remind remove removes renew rest return returns review reviews rewritten rid rule
        run runs says second seconds send sends sent set sets settle seven shared ship short
        show shows side sign signs single sit six size small solve solved solves sorry sound
        sounds stand stands start starting starts stay stayed stays step steps stop stops
        store stored story super sure switch takes taking talk talked talks tell ten term
        thanks thing things throws time times today told tomorrow tonight took top touch
        touches tried turn turned twelve twice two ugh understood usual verifies verify
        version visible wait waits wants warn warns watch week weekend weeks wins woken
        woman word words work worked works worse worth wow write writes written wrong wrote
        year years yesterday
        """,
    "de": """
        abend ahnung anfang beispiel benutzer beste bitte cent danke ding dinge ende
        erledigt euro frage fünf geschafft gestern glück grad grund gut hand heute idee jahr
        jahre klar leute liste mal meter minute minuten moment monat monate morgen nacht
        namen ordnung perfekt prima problem prozent punkt punkte regel sache sachen schade
        sekunde sekunden stelle stellen stunde stunden super tag tage teil uhr verstanden
        vorsicht wert werte woche wochen wort zeit zwei
        """,
    "es": """
        ahora ayer bien cambiar cosa cosas decidimos decidir día días genial gracias hacer
        hora horas hoy mañana mes meses minuto minutos momento necesitamos noche perfecto
        poner prueba semana tarde tiempo usamos usar vale vez
        """,
}


@cache
def _stop_words(language: str) -> frozenset[str]:
    return frozenset(Yake(language=language).stopwords)


@cache
def empty_words(language: str) -> frozenset[str]:
    """Stop words and fillers: what names nothing in any text of a language of `language_of`."""
    return _stop_words(language) | frozenset(_FILLERS.get(language, "").split())


@cache
def _languages_of() -> dict[str, tuple[str, ...]]:
    known: dict[str, list[str]] = {}
    for language in _LANGUAGES.split():
        for word in _stop_words(language):
            known.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in known.items()}


def language_of(words: list[str]) -> str | None:
    """The language whose stop words the text uses most; a word that many share counts less.

    A text of plain letters without such evidence is taken for English, as names and jargon are;
    any other is unknown (None).
    """
    scores: dict[str, float] = {}
    for word in words[:400]:
        languages = _languages_of().get(word.lower(), ())
        for language in languages:
            scores[language] = scores.get(language, 0.0) + 1 / len(languages)
    best = max(sorted(scores), key=lambda language: scores[language], default=None)
    if best is not None and scores[best] >= 1:
        return best
    plain = sum(word.isascii() for word in words)
    return "en" if 3 * plain > 2 * len(words) else None


def weak_words(prose: str, words: list[str], language: str) -> frozenset[str]:
    """Stop words, fillers and, of this text, the words whose form says that they name nothing."""
    weak = empty_words(language)
    if language == "en":
        weak |= {word.lower() for word in words if _ENGLISH_WEAK.fullmatch(word)}
    else:
        # Only English makes names of them (Black Friday).
        weak |= CALENDAR
    if language == "de" and sum(word[0].isupper() for word in words) > len(words) / 10:
        # German nouns have a capital, also where no sentence begins.
        weak |= {word.lower() for word in words} - _german_nouns(prose)
    return weak


def _german_nouns(prose: str) -> frozenset[str]:
    inside = re.finditer(r"(?<![.!?:…–\n])(?<!\A)[ („\"]{1,3}([^\W\d_][\w'’-]*)", prose)
    nouns = {match[1] for match in inside if match[1][0].isupper()}
    acronyms = re.findall(r"[A-ZÄÖÜ]\w*[A-ZÄÖÜ0-9][\w-]*", prose)
    return frozenset(word.lower() for word in nouns.union(acronyms))


# Participles and adverbs, but not `speed` or `reply`.
_ENGLISH_WEAK = re.compile(r"(?!family|supply|assembly|anomaly|reply|apply)\w+(?:[^e]ed|ly)")
