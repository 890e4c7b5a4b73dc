"""How many tokens a text will cost a model: an estimate, good enough to pack by."""

import math
import re

# Characters a token, as tokenizers of current models average them.
CHARS_PER_TOKEN = 4.0
DENSE_CHARS_PER_TOKEN = 1.5

# Scripts whose characters each carry about a syllable or a word.
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff\U0001f300-\U0001faff]"
)


def estimate_tokens(text: str) -> int:
    """About as many tokens as `text` has; never 0 for a text that is not empty."""
    dense = len(_DENSE.findall(text))
    return math.ceil(dense / DENSE_CHARS_PER_TOKEN + (len(text) - dense) / CHARS_PER_TOKEN)
