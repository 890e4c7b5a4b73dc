"""Words so common in some language that meeting one of them twice tells nothing."""

import gzip
from functools import cache
from importlib import resources

_WORDS = "common_words.txt.gz"


@cache
def common_words() -> frozenset[str]:
    """Lexemes of the alphabets; runs of ideographs, katakana and Hangul as they are written.

    Read once; 10 MB. They are the words among the most probable pieces of the vocabulary of
    XLM-RoBERTa (Conneau 2020, MIT licence), which was learnt from texts in a hundred languages;
    `bench.common_words` takes them out.
    """
    words = resources.files("agents_memory.domain.lexical").joinpath(_WORDS)
    return frozenset(gzip.decompress(words.read_bytes()).decode().split("\n"))
