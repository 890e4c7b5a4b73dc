"""What is found out about a word is found out once, and never more is kept than may be."""

from agents_memory.domain.kept import Kept


def test_a_word_is_worked_out_once_as_long_as_it_is_kept() -> None:
    asked: list[str] = []

    def length(word: str) -> int:
        asked.append(word)
        return len(word)

    kept = Kept(length, most=3, max_chars=5)
    assert [kept[word] for word in ("one", "two", "one", "three", "two")] == [3, 3, 3, 5, 3]
    assert asked == ["one", "two", "three"]
    assert kept["longer"] == kept["longer"] == 6
    assert asked[3:] == ["longer", "longer"]
    assert list(kept) == ["one", "two", "three"]
    assert kept["four"] == 4
    assert list(kept) == ["four"]
