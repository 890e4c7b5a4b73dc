"""Known tags near to a proposed one (F66)."""

from agents_memory.domain.nearest_tags import MOST, nearest

KNOWN = [
    ("harbour", "", None, 3),
    ("hausgeist", "Lamps and sensors at home", None, 40),
    ("crane-yard", "Containers, cranes and their logs", "yard", 7),
]


def test_spelling_or_words_make_a_tag_near() -> None:
    near = nearest("harbor", "Containers of the crane", KNOWN)
    assert [one.name for one in near[:2]] == ["harbour", "crane-yard"]
    assert (near[1].alias_of, near[1].messages) == ("yard", 7)
    assert near[0].likeness > 0.9


def test_the_likest_come_first_and_few_are_named() -> None:
    many = [(f"harbor-{number}", "", None, number) for number in range(20)]
    near = nearest("harbor", "", many)
    assert len(near) == MOST
    assert [one.likeness for one in near] == sorted((one.likeness for one in near), reverse=True)


def test_what_has_nothing_in_common_is_left_out() -> None:
    assert nearest("港", "", KNOWN) == []
    assert nearest("harbor", "", []) == []
