"""The terms of a Japanese, Chinese or Korean text: a short rule each, without a dictionary."""

import re
from collections.abc import Iterator

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SCRIPTS = {
    "hangul": re.compile("[\uac00-\ud7a3]"),
    "kana": re.compile("[\u3040-\u30ff]"),
    "han": re.compile(f"[{_HAN}]"),
}


def east_asian_terms(prose: str) -> Iterator[str] | None:
    """The terms as they come, with repetitions; None for a text in other scripts."""
    share = _scripts(prose)
    if share["kana"] > 0.1:
        return _japanese(prose)
    if share["han"] > 0.15:
        return _chinese(prose)
    if share["hangul"] > 0.15:
        return _korean(prose)
    return None


def _scripts(text: str) -> dict[str, float]:
    """The share of the letters in each script that needs a rule of its own."""
    letters = sum(char.isalpha() for char in text) or 1
    return {name: len(pattern.findall(text)) / letters for name, pattern in _SCRIPTS.items()}


_JAPANESE_RUN = re.compile(f"[{_HAN}\u30a1-\u30fa\u30fc]{{2,12}}")
_JAPANESE_WEAK = re.compile(
    "^(?:今日|明日|昨日|今回|今週|来週|先週|時間|場合|必要|自分|全部|一度|最初|最後)$"
)


def _japanese(prose: str) -> Iterator[str]:
    """Runs of kanji and katakana; hiragana, which carries the grammar, parts them."""
    yield from (run for run in _JAPANESE_RUN.findall(prose) if not _JAPANESE_WEAK.match(run))


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
