"""Free tags without a model: the key phrases of a text, in its own language.

Languages written with spaces go through YAKE (Campos et al. 2020, doi:10.1016/j.ins.2019.09.013)
with the stop lists that come with it. It cannot split Korean words from their particles nor
Chinese and Japanese into words at all; those have rules of their own (`east_asian_terms`).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from yake_rust import Yake

from agents_memory.domain.tags import MAX_TAG_CHARS, is_generic_tag, normalise_tag
from agents_memory.services.east_asian_terms import east_asian_terms
from agents_memory.services.weak_words import CALENDAR, empty_words, language_of, weak_words

LOOKED_AT_CHARS = 8_000
"""Only the beginning of a text is looked at; it names the subject, and the time stays bounded."""

# Each alternative can only start where its kind of run starts, so that the time stays linear.
_NOT_PROSE = re.compile(
    r"""
    ```.*?(?:```|\Z) | ~~~.*?(?:~~~|\Z)          # fenced code
    | \[redacted:[^\]\n]*\]                      # what redaction left behind
    | </?[a-z][^<>]{0,200}>                      # markup
    | \b[a-z][a-z0-9+.-]{1,20}://\S+ | \bwww\.\S+
    | (?<!\S)[^\s@]+@[^\s@]+                     # mail addresses, user@host
    | (?<![\w\\/~.:-])(?:[a-z]:)?[\w~.-]*[\\/][\\/\w.*@%+~-]*   # paths
    | (?<![\w.-])[\w.-]+\.(?:c|cfg|conf|cpp|cs|css|csv|go|gz|h|html|ini|java|jsonl?|kt|lock|log|md
      |php|pyi?|rb|rs|sh|sql|svelte|tar|toml|tsx?|txt|vue|xml|ya?ml|zip)(?::\d+)*(?!\w)
    | \b(?=\w*\d)[0-9a-f-]{7,}\b                 # hashes, ids
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_INLINE_CODE = re.compile(r"`([^`\n]*)`")
_WORD = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")
# Here a phrase may hold a preposition: `cola de eventos`.
_JOINED = frozenset(("es", "fr", "it", "pt", "ro"))
_JOINER = re.compile("d(?:a|as|e|ei|egli|el|ell|ella|elle|ello|es|i|o|os|u)")
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu|un|(?:d|n|s)?[eau]ll)['’](?=\w)", re.IGNORECASE)


def key_phrases(text: str, limit: int = 5) -> tuple[str, ...]:
    """The phrases a text is about, best first: 0 to `limit` distinct normalised tags.

    Each has at most 50 characters and the script of the text; none repeats or contains another
    (the more specific one is kept). Code, paths, addresses, ids and redaction marks are not
    looked at. Small talk has none. Any string is legal; the work is bounded by
    `LOOKED_AT_CHARS`.
    """
    if limit <= 0:
        return ()
    prose = _prose(text)
    terms = east_asian_terms(prose)
    if terms is not None:
        return _distinct(_by_count([*terms, *_names(prose)], prose), limit)
    return _spaced(prose, limit)


def _prose(text: str) -> str:
    text = text[:LOOKED_AT_CHARS].encode("utf-8", "replace").decode().replace("\0", " ")
    text = _NOT_PROSE.sub(" , ", unicodedata.normalize("NFC", text))
    text = _INLINE_CODE.sub(lambda code: f" , {code[1] if _is_name(code[1]) else ''} , ", text)
    # `order_queue` is one name; the danda and its like end a sentence.
    text = re.sub(r"(?<=\w)_+(?=\w)", "-", text)
    return re.sub("[।॥۔؟]", ". ", re.sub("[ \t]+", " ", text))


def _is_name(code: str) -> bool:
    return re.fullmatch(r"[\w .-]+", code) is not None


def _spaced(prose: str, limit: int) -> tuple[str, ...]:
    words = _WORD.findall(prose)
    language = language_of(words)
    if language is None:
        return _distinct(_by_count(_names(prose), prose), limit)
    if language in _JOINED:
        prose = _ELISION.sub("", prose)
        words = _WORD.findall(prose)
    weak = weak_words(prose, words, language)
    content = {word.lower() for word in words} - weak - CALENDAR
    if len(content) < 2:
        return ()
    # A short turn is about little: one tag, and one more for every two words that say something.
    limit = min(limit, 1 + len(content) // 2)
    return _distinct(_phrases(prose, language, weak, 4 * limit), limit)


def _phrases(prose: str, language: str, weak: frozenset[str], count: int) -> Iterator[str]:
    """YAKE's best phrases of one or two words, or of three around a preposition."""
    longest = 3 if language in _JOINED else 2
    yake = Yake(stopwords=set(weak), ngrams=longest, minimum_chars=3)
    for phrase, _ in yake.get_n_best(prose, n=count):
        parts = phrase.lower().split()
        if len(parts) == 3 and not _JOINER.fullmatch(parts[1]):
            continue
        if not CALENDAR.issuperset(parts):
            yield phrase


_PLAIN_NAME = "(?<![A-Za-zÀ-ɏḀ-ỿ])[A-Za-z][A-Za-z0-9.+#-]*(?![A-Za-zÀ-ɏḀ-ỿ])"
_LATIN_NAME = re.compile(f"{_PLAIN_NAME}(?: {_PLAIN_NAME})?")
_QUOTED = re.compile('[「『《“"‘]([^」』》”"’\n]{2,20})[」』》”"’]')


def _names(prose: str) -> Iterator[str]:
    """What stands out in any script: quoted terms, and the Latin names inside the text."""
    yield from _QUOTED.findall(prose)
    empty = empty_words("en")
    for name in _LATIN_NAME.findall(prose):
        if len(name) > 2 and not empty.intersection(name.lower().split()):
            yield name


def _by_count(terms: Iterable[str], prose: str) -> list[str]:
    """Terms by how often the text holds them, also inside longer ones; then as they come."""
    return sorted(dict.fromkeys(terms), key=lambda term: -prose.count(term))


def _distinct(phrases: Iterable[str], limit: int) -> tuple[str, ...]:
    """The first `limit` tags of which none says less than another."""
    kept: list[str] = []
    for phrase in phrases:
        tag = normalise_tag(phrase)
        # A tag of full length was cut, and half a phrase is none.
        if tag is None or is_generic_tag(tag) or len(tag) == MAX_TAG_CHARS:
            continue
        if any(_within(tag, other) or _overlap(tag, other) for other in kept):
            continue
        narrower = [i for i, other in enumerate(kept) if _within(other, tag)]
        if narrower:
            # The more specific phrase takes the place of the first that it contains.
            kept[narrower[0]] = tag
            kept = [other for i, other in enumerate(kept) if i not in narrower[1:]]
        elif len(kept) < limit:
            kept.append(tag)
    return tuple(kept)


def _within(tag: str, other: str) -> bool:
    """Whether every word of `tag` is in `other`, give or take an ending (`queue`, `queues`)."""
    if not tag.isascii() and tag in other:
        # Without spaces between words a part is a substring.
        return True
    words = other.split("-")
    return all(any(_same_word(word, its) for its in words) for word in tag.split("-"))


def _overlap(tag: str, other: str) -> bool:
    """Whether two phrases are pieces of one: `partner-endpoint`, `endpoint-certificate`."""
    words, its = tag.split("-"), other.split("-")
    return len(words) > 1 < len(its) and (words[0] == its[-1] or words[-1] == its[0])


def _same_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and len(long) - len(short) <= (2 if len(short) > 3 else 0)
