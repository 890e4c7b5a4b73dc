"""Words struck out where they stand: a phrase, or every secret, in all columns of the pool."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from agents_memory.domain.phrases import Phrase
from agents_memory.domain.redaction import redact
from agents_memory.domain.tombstones import phrase_digest, strike, strike_name, told_apart
from agents_memory.services.erasure import Erasure
from agents_memory.storage import erasing, tombstones
from agents_memory.storage.erasing import Way

_Ways = Mapping[Way, Callable[[str], str]]


async def strike_phrase(erasure: Erasure, phrase: Phrase) -> None:
    """Strikes a phrase out of every column that is registered for it."""
    await tombstones.insert_phrase(
        erasure.connection, phrase_digest(erasure.key, phrase.words), len(phrase.words)
    )

    def hit(value: str) -> bool:
        return bool(phrase.spans(value))

    ways: _Ways = {
        Way.WORDS: lambda value: strike(value, phrase),
        Way.NAME: lambda value: strike_name(value, phrase, erasure.key),
    }
    await _change(erasure, ways, hit)
    erasure.words = " ".join(phrase.words)


async def redact_secrets(erasure: Erasure) -> None:
    """Puts the marks of redaction over every secret; counts them."""

    def words(value: str) -> str:
        redacted = redact(value)
        erasure.kinds.update(redacted.counts)
        return redacted.text

    def name(value: str) -> str:
        redacted = words(value)
        return value if redacted == value else told_apart(redacted, value, erasure.key)

    def hit(value: str) -> bool:
        return bool(redact(value).counts)

    await _change(erasure, {Way.WORDS: words, Way.NAME: name}, hit)


async def _change(erasure: Erasure, ways: _Ways, hit: Callable[[str], bool]) -> None:
    await _change_table(erasure, "messages", ways, hit)
    await erasure.lock()
    for name in erasing.TABLES:
        if name != "messages":
            await _change_table(erasure, name, ways, hit)


async def _change_table(
    erasure: Erasure, name: str, ways: _Ways, hit: Callable[[str], bool]
) -> None:
    connection, table = erasure.connection, erasing.TABLES[name]
    for column, known in table.columns.items():
        if known.way in ways:
            erase = partial(_struck, erase=ways[known.way])
            erasure.note(name, column, await erasing.erase_column(connection, name, column, erase))
        elif known.way is Way.REPORTED:
            left = await erasing.count_hits(connection, name, column, hit)
            erasure.left[f"{name}.{column}"] += left
        elif name == "captures":
            gone = await erasing.drop_rows(connection, name, column, hit)
            erasure.changed[f"{name}.{column}"] += gone


def _struck(value: Any, erase: Callable[[str], str]) -> Any:
    """The value of a column with every string in it struck; equal elements become one."""
    match value:
        case str():
            return erase(value)
        case list():
            struck = [_struck(one, erase) for one in value]
            return value if struck == value else _distinct(struck)
        case dict():
            # Its keys are ours.
            return {name: _struck(one, erase) for name, one in value.items()}
        case _:
            return value


def _distinct(values: list[Any]) -> list[Any]:
    return [value for at, value in enumerate(values) if value not in values[:at]]
