"""Questions of the benchmark are those that the daemon would ask."""

from bench.llm_questions import questions
from cold.llm.schemas import canonical


def test_each_schema_has_as_many_questions_as_wanted_about_real_text() -> None:
    found = questions(300)
    assert sorted(found) == [
        "Digested",
        "Filed",
        "Judged",
        "Revised",
        "Revisited",
        "Summed",
        "Verified",
    ]
    for name, asked in found.items():
        assert len(asked) == 300
        assert {each.schema.__name__ for each in asked} == {name}
        assert canonical(asked[0].schema)["type"] == "object"
        for each in asked:
            [source] = [turn for turn in each.turns if turn.source]
            assert source.text.strip()
    assert questions(3)["Filed"] == found["Filed"][:3]
