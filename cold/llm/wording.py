"""Data in a prompt stays data: what a chat template would read as control is broken up."""

import re

from agents_memory.domain.text import repair

# Tokenizers read control tokens out of any text of a chat: `<|im_end|>` ends the turn for Qwen,
# `<end_of_turn>` for Gemma, `[/INST]` for Mistral, `<｜User｜>` for DeepSeek.
_BAR = re.compile(r"<(?=[|｜])|(?<=[|｜])(?=>)")
_NAMES = (
    "think|thinking|thought|reasoning|analysis|bos|eos|pad|unk|s|mask|sep|cls|start_of_turn|"
    "end_of_turn|start_of_image|tool_call|tool_response|tool_calls|tools|function_call|eot|eom|"
    "sys|start_header_id|end_header_id|begin_of_text|end_of_text|start_of_role|end_of_role"
)
_ANGLED = re.compile(rf"<(?=/?(?:{_NAMES})>)|<(?=</?SYS>>)", re.IGNORECASE)
_SQUARE = re.compile(
    r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|gMASK)\])",
    re.IGNORECASE,
)


def legible(text: str) -> str:
    """`text` without NUL, lone surrogates and control tokens, which get a space inside.

    Every word stays readable, so a quote from it is found again in the text as it was said.
    """
    text = repair(text).text
    text = _BAR.sub(lambda found: found[0] + " ", text)
    text = _ANGLED.sub("< ", text)
    return _SQUARE.sub("[ ", text)
