"""Free tags without a model: the key phrases of a text, in its own language.

Languages written with spaces go through YAKE (Campos et al. 2020, doi:10.1016/j.ins.2019.09.013)
with the stop lists that come with it. It cannot split Korean words from their particles nor
Chinese and Japanese into words at all; those have a short rule each, below.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from yake_rust import Yake

from agents_memory.domain.tags import MAX_TAG_CHARS, is_generic_tag, normalise_tag

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

_LANGUAGES = """
    ar bg cz da de el en es et fa fi fr hi hr hu hy id it lt lv nl no pl pt ro ru sk sl sv tr uk
    """
# Here a phrase may hold a preposition: `cola de eventos`.
_JOINED = frozenset(("es", "fr", "it", "pt", "ro"))
_JOINER = re.compile("d(?:a|as|e|ei|egli|el|ell|ella|elle|ello|es|i|o|os|u)")
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu|un|(?:d|n|s)?[eau]ll)['’](?=\w)", re.IGNORECASE)

_CALENDAR = """
    abril agosto april august december dezember diciembre dienstag domingo donnerstag enero
    febrero februar february freitag friday januar january jueves juli julio july june juni
    junio lunes mai march martes marzo may mayo mittwoch miércoles monday montag märz november
    noviembre october octubre oktober samstag saturday september septiembre sonntag sunday
    sábado thursday tuesday viernes wednesday
    """
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
    share = _scripts(prose)
    if share["kana"] > 0.1:
        return _distinct(_by_count(_japanese(prose), prose), limit)
    if share["han"] > 0.15:
        return _distinct(_by_count(_chinese(prose), prose), limit)
    if share["hangul"] > 0.15:
        return _distinct(_by_count(_korean(prose), prose), limit)
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


def _scripts(text: str) -> dict[str, float]:
    """The share of the letters in each script that needs a rule of its own."""
    letters = sum(char.isalpha() for char in text) or 1
    return {name: len(pattern.findall(text)) / letters for name, pattern in _SCRIPTS.items()}


_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SCRIPTS = {
    "hangul": re.compile("[\uac00-\ud7a3]"),
    "kana": re.compile("[\u3040-\u30ff]"),
    "han": re.compile(f"[{_HAN}]"),
}


def _spaced(prose: str, limit: int) -> tuple[str, ...]:
    words = _WORD.findall(prose)
    language = _language(words)
    if language is None:
        return _distinct(_by_count(_names(prose), prose), limit)
    if language in _JOINED:
        prose = _ELISION.sub("", prose)
        words = _WORD.findall(prose)
    weak = _weak(prose, words, language)
    content = {word.lower() for word in words} - weak - _words(_CALENDAR)
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
        if not _words(_CALENDAR).issuperset(parts):
            yield phrase


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@cache
def _stop_words(language: str) -> frozenset[str]:
    return frozenset(Yake(language=language).stopwords)


@cache
def _empty_words(language: str) -> frozenset[str]:
    return _stop_words(language) | _words(_FILLERS.get(language, ""))


@cache
def _languages_of() -> dict[str, tuple[str, ...]]:
    known: dict[str, list[str]] = {}
    for language in _LANGUAGES.split():
        for word in _stop_words(language):
            known.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in known.items()}


def _language(words: list[str]) -> str | None:
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


def _weak(prose: str, words: list[str], language: str) -> frozenset[str]:
    """Stop words, fillers and, of this text, the words whose form says that they name nothing."""
    weak = _empty_words(language)
    if language == "en":
        weak |= {word.lower() for word in words if _ENGLISH_WEAK.fullmatch(word)}
    else:
        # Only English makes names of them (Black Friday).
        weak |= _words(_CALENDAR)
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

_PLAIN_NAME = "(?<![A-Za-zÀ-ɏḀ-ỿ])[A-Za-z][A-Za-z0-9.+#-]*(?![A-Za-zÀ-ɏḀ-ỿ])"
_LATIN_NAME = re.compile(f"{_PLAIN_NAME}(?: {_PLAIN_NAME})?")
_QUOTED = re.compile('[「『《“"‘]([^」』》”"’\n]{2,20})[」』》”"’]')


def _names(prose: str) -> Iterator[str]:
    """What stands out in any script: quoted terms, and the Latin names inside the text."""
    yield from _QUOTED.findall(prose)
    empty = _empty_words("en")
    for name in _LATIN_NAME.findall(prose):
        if len(name) > 2 and not empty.intersection(name.lower().split()):
            yield name


def _by_count(terms: Iterable[str], prose: str) -> list[str]:
    """Terms by how often the text holds them, also inside longer ones; then as they come."""
    return sorted(dict.fromkeys(terms), key=lambda term: -prose.count(term))


_JAPANESE_RUN = re.compile(f"[{_HAN}\u30a1-\u30fa\u30fc]{{2,12}}")
_JAPANESE_WEAK = re.compile(
    "^(?:今日|明日|昨日|今回|今週|来週|先週|時間|場合|必要|自分|全部|一度|最初|最後)$"
)


def _japanese(prose: str) -> Iterator[str]:
    """Runs of kanji and katakana; hiragana, which carries the grammar, parts them."""
    yield from (run for run in _JAPANESE_RUN.findall(prose) if not _JAPANESE_WEAK.match(run))
    yield from _names(prose)


_CHINESE_BREAK = re.compile(
    "我们|你们|他们|她们|它们|大家|自己|这个|那个|这些|那些|这样|那样|什么|怎么|为什么|哪里|多少"
    "|因为|所以|但是|不过|如果|虽然|而且|或者|还是|然后|以后|之后|以前|之前|已经|正在|刚刚|一直"
    "|可以|可能|应该|需要|必须|不再|没有|不是|就是|不要|不能|不会|觉得|认为|知道|希望|决定|打算"
    "|使用|进行|处理|变成|成为|加上|放在|开始|结束|继续|帮我|请给|告诉|谢谢|好的|没问题|辛苦了|麻烦|参加|主要|非常|比较|特别"
    "|将要|就会|真的|真是|真心|[是有]个|有点|还有|所有|上面|下面|里面|感觉|起来|出来|一下"
    "|今天|明天|昨天|晚上|早上|上午|中午|下午|今年|去年|明年|每天|[上下]周|星期.|周[一二三四五六日末]"
    "|[0-9〇一二三四五六七八九十百千两几]+[个次条年月日号点分秒天周位件张本块元人款]?"
    "|[的了是在和与及把被用来做让给从也都就还又再很太更最吗呢吧啊呀嘛我你您他她它这那其不请]"
)
_HAN_RUN = re.compile(f"[{_HAN}]{{2,}}")


def _chinese(prose: str) -> Iterator[str]:
    """Runs of Han characters between function words (RAKE: Rose et al. 2010), of 2 to 8."""
    for run in _HAN_RUN.findall(_CHINESE_BREAK.sub(" ", prose)):
        if len(run) <= 8:
            yield run
    yield from _names(prose)


_HANGUL_TOKEN = re.compile("[\uac00-\ud7a3]{2,}|\\S")
_AFTER_ANY = (
    "에서는|에서도|에서|에게서|에게는|에게|한테|까지|부터|처럼|보다|마다|에는|에도|에|의|도|만|하고"
)
_AFTER_CONSONANT = "으로는|으로|이랑|이나|이라|과는|과|은|을|이"
_AFTER_VOWEL = "로는|로|랑|나|라|와는|와|는|를|가"
_PARTICLE = re.compile(f"(..+?)(?:({_AFTER_CONSONANT})|({_AFTER_VOWEL})|{_AFTER_ANY})")
_VERBAL_NOUN = re.compile("(..+?)(?:하|해|했|할|한|합|함|되|돼|됐|된|될|됩).{0,4}")
_NO_HANGUL_NOUN = re.compile(
    ".*(?:[고면서지게히니다요어아죠네까며던인든라자야워써져려여으밖타]|[가-힣]은|[가-힣]는)"
    "|오늘|내일|어제|지금|이번|다음|우리|그것|이것|저것|여기|거기|하나|때문|정도|생각|처음|나중|모두"
    "|아침|저녁|오전|오후|그때|경우|다시|시간|정말|조금|감사|부탁|시작|필요|말씀|가능|사용|정리|표시"
    "|하루|등록|저장|완료|기록|자리|사람"
)
_NO_PREFIX = re.compile(f".*[은는을를이가도만에의로]|{_NO_HANGUL_NOUN.pattern}")


def _korean(prose: str) -> Iterator[str]:
    """Nouns: what carries a particle that fits its last sound, or makes a verb with 하다 or 되다.

    A bare word right before one is taken as the first half of a compound (주문 대기열을).
    """
    before = ""
    for token in _HANGUL_TOKEN.findall(prose):
        noun = _hangul_noun(token)
        if noun:
            yield f"{before} {noun}".strip()
        bare = not noun and len(token) > 1 and not _NO_PREFIX.fullmatch(token)
        before = token if bare else ""
    yield from _names(prose)


def _hangul_noun(token: str) -> str | None:
    if match := _VERBAL_NOUN.fullmatch(token):
        noun = match[1]
    elif not token.endswith("기로") and (match := _PARTICLE.fullmatch(token)):
        noun = match[1]
        ends_in_consonant = (ord(noun[-1]) - 0xAC00) % 28 > 0
        if match[3 if ends_in_consonant else 2] and noun[-1] not in _ENDS_IN_L:
            return None
    else:
        return None
    return None if _NO_HANGUL_NOUN.fullmatch(noun) else noun


# 로 also follows the consonant ㄹ (서울로).
_ENDS_IN_L = {chr(0xAC00 + 28 * i + 8) for i in range(399)}


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
