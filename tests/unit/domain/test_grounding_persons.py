"""What is said of somebody else is no statement of the speaker, in any language of the rules."""

import pytest

from agents_memory.domain.grounding import unfounded
from agents_memory.domain.grounding.persons import of_another


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ("My sister lives in Graz.", "Lives in Graz."),
        ("My older brother works as a carpenter and hates mushrooms.", "Works as a carpenter."),
        (
            "My older brother works as a carpenter and hates mushrooms.",
            "Dislikes mushrooms, hates them.",
        ),
        ("I live in Vienna. My sister lives in Graz.", "Lives in Graz."),
        ("She lives in Graz.", "Lives in Graz."),
        ("Mara lives in Graz.", "The user lives in Graz."),
        ("My boss, who is from Linz, uses Vim.", "Uses Vim."),
        ("A friend of mine plays the cello.", "Plays the cello."),
        ("Meine Schwester wohnt in Graz.", "Wohnt in Graz."),
        ("Mein Chef trinkt keinen Kaffee.", "Trinkt keinen Kaffee."),
        ("Mara wohnt in Graz.", "Wohnt in Graz."),
        ("Ma sœur habite à Lyon.", "Habite à Lyon."),
        ("Elle habite à Lyon.", "Habite à Lyon."),
        ("Mi hermana vive en Sevilla.", "Vive en Sevilla."),
        ("Mia sorella abita a Torino.", "Abita a Torino."),
        ("Minha irmã mora em Lisboa.", "Mora em Lisboa."),
        ("A minha irmã mora em Lisboa.", "Mora em Lisboa."),
        ("Mijn zus woont in Utrecht.", "Woont in Utrecht."),
        ("Moja siostra mieszka w Warszawie.", "Mieszka w Warszawie."),
        ("Kız kardeşim İzmir'de yaşıyor.", "İzmir'de yaşıyor."),
        ("Моя сестра живёт в Москве.", "Живёт в Москве."),
        ("我姐姐住在上海。", "住在上海。"),
        ("我的同事喜欢开长会。", "喜欢开长会。"),
        ("妹は東京に住んでいます。", "東京に住んでいる。"),
        ("田中さんは東京に住んでいます。", "東京在住。"),
        ("여동생은 서울에 삽니다.", "서울에 산다."),
        ("민수 씨는 서울에 삽니다.", "서울에 산다."),
        ("أختي تسكن في القاهرة.", "تسكن في القاهرة."),
        ("تسكن أختي في القاهرة.", "تسكن في القاهرة."),
        ("אחותי גרה בחיפה.", "גרה בחיפה."),
        ("मेरी बहन दिल्ली में रहती है।", "दिल्ली में रहती है।"),
        ("น้องสาวของฉันอยู่ที่เชียงใหม่", "อยู่ที่เชียงใหม่"),
        ("I think my sister lives in Graz.", "Lives in Graz."),
        ("I told you my sister lives in Graz.", "Lives in Graz."),
        ("You know that my sister lives in Graz.", "Lives in Graz."),
        ("Yesterday my sister told me she lives in Graz.", "Lives in Graz."),
        ("In Graz lives my sister.", "Lives in Graz."),
        ("In Graz wohnt meine Schwester.", "Wohnt in Graz."),
        ("Letztes Jahr ist meine Schwester nach Graz gezogen.", "Nach Graz gezogen."),
        ("My ex-wife lives in Graz.", "Lives in Graz."),
        ("The neighbour lives in Graz.", "Lives in Graz."),
        ("My dentist is vegan.", "Is vegan."),
    ],
)
def test_what_is_said_of_another_person_is_not_taken_for_the_speaker(
    source: str, statement: str
) -> None:
    """C3: with no verifier, too; a half-truth is none of the profile."""
    assert of_another(statement, source)
    assert unfounded(statement, [source]) is not None


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ("My sister and I live in Graz.", "Lives in Graz."),
        ("I live in Graz, my sister in Linz.", "Lives in Graz."),
        ("My sister lives in Graz. I live in Graz, too.", "Lives in Graz."),
        ("My sister lives in Graz.", "His sister lives in Graz."),
        ("My boss wants me to use Postgres.", "Uses Postgres."),
        ("I visited my sister in Graz.", "Visited Graz."),
        ("My sister lives in Graz and I work as a nurse.", "Works as a nurse."),
        ("My team uses Kafka.", "Uses Kafka."),
        ("Berlin is my home.", "Home is Berlin."),
        ("Mara lives in Graz.", "Mara lives in Graz."),
        ("Meine Schwester und ich wohnen in Graz.", "Wohnt in Graz."),
        ("Ich wohne mit meiner Schwester in Graz.", "Wohnt in Graz."),
        ("Con mi hermana vivo en Sevilla.", "Vive en Sevilla."),
        ("Vivo en Sevilla con mi hermana.", "Vive en Sevilla."),
        ("Il mio appartamento è a Torino.", "Appartamento a Torino."),
        ("我和姐姐住在上海。", "住在上海。"),
        ("我住在上海。", "住在上海。"),
        ("妹と東京に住んでいます。", "東京に住んでいる。"),
        ("여동생과 서울에 삽니다.", "서울에 산다."),
        ("أسكن مع أختي في القاهرة.", "يسكن في القاهرة."),
        ("Моя сестра живёт в Москве, а я в Казани.", "Живёт в Казани."),
        ("The server is in Graz.", "The server is in Graz."),
        ("My wife and I moved to Lisbon last spring.", "Moved to Lisbon."),
        ("My friends call me Theo.", "Wants to be called Theo."),
        (
            "My sister is a doctor. Works in Graz as a carpenter, that's me.",
            "Works as a carpenter in Graz.",
        ),
        ("My partner is vegan, so we cook vegan at home.", "Cooks vegan at home."),
    ],
)
def test_what_the_speaker_says_of_himself_or_names_the_other_is_left_alone(
    source: str, statement: str
) -> None:
    assert not of_another(statement, source)


@pytest.mark.parametrize(
    "source", ["", "\ud800", "my", "She", "My sister", "他" * 5000, "i, " * 9000]
)
def test_any_text_gets_a_verdict(source: str) -> None:
    assert not of_another("Lives in Graz.", source)
