"""Real turns to measure with, the example conversations, and questions about turns."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from agents_memory.domain.conversations import parse_conversation
from agents_memory.domain.lexical import query_terms
from agents_memory.domain.messages import Draft
from agents_memory.services.conversations import draft_of

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "conversations"
MANY_WORDS = 12


def example_drafts() -> list[Draft]:
    """Every turn of the examples, session by session, as an import hands it over."""
    return list(_drafts())


def _drafts() -> Iterator[Draft]:
    for path in sorted(EXAMPLES.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            conversation = parse_conversation(lines)
        assert conversation.header is not None, path
        for turn in conversation.turns:
            yield draft_of(conversation.header, turn)


def example_questions() -> list[str]:
    """The questions that examples/README.md asks."""
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^\| \d+ \| ([^|]+?) \|", readme, re.MULTILINE)


def ask_about(texts: Sequence[str], count: int, seed: int = 0) -> list[str]:
    """Questions of three or four words of one text each, as people ask about what they half know.

    The words are those that the keyword arm looks for.
    """
    random = Random(seed)
    questions: list[str] = []
    rich = [text for text in texts if len(text.split()) >= MANY_WORDS]
    while rich and len(questions) < count:
        text = random.choice(rich)
        sought = set(query_terms(text))
        words = [word for word in text.split() if not sought.isdisjoint(query_terms(word))]
        if len(words) >= MANY_WORDS // 2:
            chosen = random.sample(words, random.choice((3, 4)))
            questions.append(f"What was it about {' '.join(chosen[:-1])} and {chosen[-1]}?")
    return questions
