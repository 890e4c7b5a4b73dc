"""The marks that stand where secrets stood."""

from collections.abc import Iterable


def lower(text: str) -> str:
    """Lower case with every character at its place (İ alone would become two)."""
    return text.replace("İ", "I").lower()


def put_marks(text: str, spans: Iterable[tuple[int, int, str]], found: dict[str, int]) -> str:
    """Put marks over (start, end, kind) spans, which come in order and do not overlap.

    Counts them in `found`; without any, the result is `text` itself.
    """
    parts: list[str] = []
    done = 0
    for start, end, kind in spans:
        parts += (text[done:start], f"[redacted:{kind}]")
        done = end
        found[kind] = found.get(kind, 0) + 1
    return "".join((*parts, text[done:])) if parts else text
