"""A long text in parts: what stands in it, and what of it says most (F59)."""

import pytest

from agents_memory.domain.digesting import READ_CHARS, UNIT_CHARS, fragments, key_units, units
from agents_memory.domain.joining import Unit


def statements(text: str) -> list[str]:
    return [unit.statement for unit in fragments(text)]


def test_sentences_end_where_a_reader_ends_them() -> None:
    assert statements(
        "It is twice as fast, e.g. the lint step takes 20 s. Dr. J. R. Smith approved it. "
        'He said "Fine." Then he left! Das gilt z. B. für Bauten… Am 3. März?'
    ) == [
        "It is twice as fast, e.g. the lint step takes 20 s.",
        "Dr. J. R. Smith approved it.",
        'He said "Fine."',
        "Then he left!",
        "Das gilt z. B. für Bauten…",
        "Am 3. März?",
    ]


def test_scripts_that_are_written_without_spaces_need_none() -> None:
    assert statements("我们决定每周二发布。玛拉说：“好的。”服务器将于三月\n迁移！谁负责？") == [
        "我们决定每周二发布。",
        "玛拉说：“好的。”",
        "服务器将于三月迁移！",
        "谁负责？",
    ]
    assert statements("बाज़ार बंद है। कल खुलेगा।") == ["बाज़ार बंद है।", "कल खुलेगा।"]
    assert statements("서버를 옮깁니다. 마라가 맡습니다.\n화요일에\n배포합니다.") == [
        "서버를 옮깁니다.",
        "마라가 맡습니다.",
        "화요일에 배포합니다.",
    ]


def test_headings_and_announcements_stand_before_what_they_are_about() -> None:
    text = """\
Intro line of the whole.

# Harbor #
Wrapped prose that goes
on here.

Open points
-----------
Buy:
- milk
  and honey
* [x] eggs

1) Call the port office
・予備の電球
"""
    assert statements(text) == [
        "Intro line of the whole.",
        "Harbor: Wrapped prose that goes on here.",
        "Buy: milk and honey",
        "Buy: eggs",
        "Open points: Call the port office",
        "Open points: 予備の電球",
    ]
    assert [unit.section for unit in units(text)] == [0, 1, 2, 2, 2, 2]
    assert statements("# 決定\n火曜日に配布する。") == ["決定：火曜日に配布する。"]


def test_tables_quotes_rules_and_code() -> None:
    text = """\
| Name | Role |
|------|:----:|
| Mara | pager |

***
> quoted words
> of somebody.

```sh
rm -rf build
```
"""
    assert statements(text) == ["Name: Mara · Role: pager", "quoted words of somebody."]


def test_code_is_taken_where_there_is_nothing_else() -> None:
    assert statements("```\nport = 5432\n```") == ["port = 5432"]
    assert statements("~~~\nnever closed") == ["never closed"]


def test_lines_that_stand_for_themselves_are_not_joined() -> None:
    assert statements("Mara: the pager is mine\nOtto: fine with me\nand thanks") == [
        "Mara: the pager is mine",
        "Otto: fine with me and thanks",
    ]


def test_what_is_said_twice_counts_once() -> None:
    assert statements("The gate is shut.\n\n- the gate is shut!\n- It rains.") == [
        "The gate is shut.",
        "It rains.",
    ]
    assert statements("# A\n- It rains.\n# B\n- It rains.") == ["A: It rains.", "B: It rains."]


@pytest.mark.parametrize("text", ["", " \n\t", "***\n---\n===", "… — !?", "\u0301" * 5000, "> > >"])
def test_a_text_may_say_nothing(text: str) -> None:
    assert units(text) == []


def test_a_sentence_without_an_end_is_cut_where_one_would_pause() -> None:
    found = units("buoy seven, " * 200 + "\n\n" + "x" * 2000 + "\n\n" + "字" * 1500)
    assert all(0 < len(unit.text) <= UNIT_CHARS for unit in found)
    assert found[0].text.endswith("seven,")


def test_of_a_longer_text_the_beginning_is_read_to_a_whole_statement() -> None:
    text = "".join(f"- Buoy {number} is lit.\n" for number in range(20_000))
    found = units(text)
    assert len(text) > READ_CHARS > len("".join(unit.text for unit in found))
    assert all(unit.text.endswith(" is lit.") for unit in found)


def test_few_statements_are_all_taken() -> None:
    found = units("One thing. Another thing. A third thing.")
    assert key_units(found) == found


def test_every_section_has_its_say() -> None:
    text = "# A\n" + "".join(f"- The tide of day {n} rose by {n} feet.\n" for n in range(40))
    text += "# B\n- Mara owns the pager.\n# C\n- Deploys happen on Tuesdays.\n"
    chosen = key_units(units(text))
    assert len(chosen) == 6
    assert [unit.section for unit in chosen] == [1, 1, 1, 1, 2, 3]


def test_without_sections_what_says_most_is_taken_in_its_order() -> None:
    said = [Unit(f"The tide of day {n} rose by {n} feet.") for n in range(40)]
    said.insert(11, Unit("Mara promised the port office new lamps for the gauge."))
    chosen = key_units(said)
    assert len(chosen) == 6
    assert said[11] in chosen
    assert chosen == sorted(chosen, key=said.index)


def test_a_question_comes_after_what_states_something() -> None:
    said = [Unit(f"The {name} gate holds at spring tide.") for name in ("north", "west", "east")]
    said += [Unit("Does the south gate hold at spring tide?"), Unit("The south gate holds well.")]
    assert said[3] not in key_units(said, 4)


def test_statements_without_telling_words_are_taken_from_the_top() -> None:
    said = [Unit(word) for word in ("it", "is", "so", "as", "we", "are", "and", "you", "or")]
    chosen = key_units(said)
    assert chosen
    assert len(chosen) <= 6


def test_the_rows_of_a_table_are_told_with_its_head() -> None:
    table = "Open:\n| service | owner | port |\n|---|---|---|\n"
    table += "| tide | Jonas | 8081 |\n| reef |  | 80 | x |\n"
    assert statements(table + "Nothing else is open.\n| a | bc |") == [
        "Open: service: tide · owner: Jonas · port: 8081",
        "Open: service: reef · port: 80 · x",
        "Nothing else is open.",
        "a · bc",
    ]
    assert statements("| only | a head |\n|---|---|") == []


def test_a_single_letter_says_nothing_unless_it_stands_under_something() -> None:
    assert units("- x\n" * 9) == []
    assert statements("Tyres:\n- 4\n\n水") == ["Tyres: 4", "水"]


RETRO = """\
Retro sprint 12
Decisions:
- Deploys move to Tuesdays
- No deploys after 16:00
Open:
1. Mara: pager rota
2. ???
| service | owner | port |
|---|---|---|
| harbor | Mara | 8080 |
| tide | Jonas | 8081 |
Q: Why is the build slow?
A: Because the cache is cold after each merge.
- [ ] call Ada
- yes
"""


def test_of_short_lists_nothing_is_left_out_and_a_title_stands_above_all() -> None:
    """F59: every item has its lead-in, every row its head, and an answer its question."""
    assert [unit.statement for unit in key_units(units(RETRO))] == [
        "Retro sprint 12 – Decisions: Deploys move to Tuesdays; No deploys after 16:00",
        "Retro sprint 12 – Open: Mara: pager rota",
        "Retro sprint 12 – Open: service: harbor · owner: Mara · port: 8080",
        "Retro sprint 12 – Open: service: tide · owner: Jonas · port: 8081",
        "Retro sprint 12: Q: Why is the build slow? A: Because the cache is cold after each merge.",
        "Retro sprint 12: call Ada; yes",
    ]


def test_lists_that_do_not_fit_are_chosen_from_as_they_are() -> None:
    items = "".join(f"- The tide of day {number} rose by {number} feet.\n" for number in range(40))
    assert all(unit.text.count("tide") == 1 for unit in key_units(units("Tides:\n" + items)))
