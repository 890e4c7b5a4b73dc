"""The keyword arm's analyser (F30, F31, D5, D10, D14)."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_memory.domain import lexical
from agents_memory.domain.lexical import (
    MAX_LEXEME_CHARS,
    MAX_QUERY_TERMS,
    MAX_TERM_FREQUENCY,
    MAX_TSVECTOR_BYTES,
    Analysis,
    analyse,
    query_terms,
    to_tsquery_literal,
    to_tsvector_literal,
)

ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=120)
SAMPLES = """
the Deciding search_memory C++ c# .net v18.6 a/b.py don’t ß Grüße 水 東京タワー 데이터를 ไทย किताबें
👩‍💻 🇩🇪 -> ??? \\'
"""
TOKENS = st.lists(st.sampled_from([*SAMPLES.split(), "x" * 90]), max_size=12).map(" ".join)


def finds(query: str, row: str) -> bool:
    terms = analyse(row).terms
    return any(term in terms for term in query_terms(query))


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("decide", "We decided it."),
        ("deciding", "we decide"),
        ("migration", "all migrations ran"),
        ("Caroline", "Caroline’s birthday"),
        ("obrien", "ask O'Brien"),
        ("dont", "don't"),
        ("école", "à l'école"),
        ("email", "send an e-mail"),
        ("решения", "решение принято"),
        ("βάση", "οι βάσεις"),
        ("كتاب", "الكتاب"),
        ("किताब", "किताबें"),
        ("հայաստան", "Հայաստանը"),
        ("книга", "кни\u0301га"),
        ("елка", "ёлка"),
    ],
)
def test_an_inflected_word_is_found(query: str, row: str) -> None:
    """F30"""
    assert finds(query, row)
    assert len(query_terms(query)) <= 2


def test_a_word_and_its_inflection_are_counted_as_one_lexeme() -> None:
    assert analyse("decide, decided; deciding") == Analysis({"decid": 3}, 3, cut=False)


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("cafe", "the café"),
        ("café", "the cafe"),
        ("CAFÉ", "cafe\u0301"),
        ("Strasse", "Straße"),
        ("Gruesse", "Grüße"),
        ("Grüße", "Gruesse"),
        ("uber", "über"),
        ("istanbul", "İstanbul"),
        ("viet nam", "Việt Nam"),
        ("Łódź", "lodz"),
        ("2026", "٢٠٢٦"),
        ("postgres １８", "Postgres 18"),
        ("شركة", "شَرِكة"),
    ],
)
def test_accents_case_and_width_make_no_difference(query: str, row: str) -> None:
    """F31"""
    assert finds(query, row)


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("生日", "我的生日是三月"),
        ("タワー", "東京タワーへ行く"),
        ("ﾀﾜｰ", "東京タワー"),
        ("データベース", "データベースを選ぶ"),
        ("水", "我每天喝水。"),
        ("数据库", "使用PostgreSQL数据库"),
        ("postgresql", "使用PostgreSQL数据库"),
        ("11月", "2026年11月3日"),
        ("데이터베이스", "데이터베이스를 찾아라"),
        ("물", "물을 마신다"),
        ("서울", "서울에서"),
        ("ไทย", "ภาษาไทยง่าย"),
        ("ភាសា", "ភាសាខ្មែរ"),
        ("မြန်မာ", "မြန်မာစာ"),
        ("ລາວ", "ພາສາລາວ"),
    ],
)
def test_scripts_without_spaces_are_found_inside_a_run(query: str, row: str) -> None:
    """F30, F31"""
    assert finds(query, row)


def test_a_run_is_asked_for_by_its_pairs_and_kept_with_its_characters() -> None:
    assert query_terms("生日快乐") == ("生日", "日快", "快乐")
    assert analyse("生日快乐").terms.keys() == {"生日", "日快", "快乐", "生", "日", "快", "乐"}
    assert analyse("生日快乐").length == 3


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("Wo feiern wir das chinesische Neujahr?", ("feiern", "chinesisch", "neujahr")),
        ("Où nous fêtons nos anniversaires", ("feton", "anniversair")),
        ("我们在哪里过年？", ("里过", "过年")),
        ("Wir haben es noch", ("wir", "haben", "es", "noch")),
    ],
)
def test_a_query_looks_for_no_pronouns_unless_it_has_nothing_else(
    query: str, terms: tuple[str, ...]
) -> None:
    """F30: else what shares a mere *wir* would stand before what answers."""
    assert query_terms(query) == terms


def test_particles_do_not_hide_a_hangul_stem_and_nothing_counts_twice() -> None:
    assert analyse("물을").terms == {"물을": 1, "물": 1}
    assert query_terms("데이터") == ("데이터", "데이", "이터")


@pytest.mark.parametrize(
    ("token", "parts"),
    [
        ("search_memory", {"searchmemori", "search", "memori"}),
        ("searchMemory", {"searchmemori", "search", "memori"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("foo.bar", {"foo.bar", "foo", "bar"}),
        ("kebab-case-name", {"kebabcasenam", "kebab", "case", "name"}),
        ("18.6", {"18.6", "18"}),
        ("v18.6.1", {"v18.6.1", "18.6.1", "v18", "18"}),
        ("E1234", {"e1234"}),
        ("python3", {"python3", "python"}),
        ("joe@example.com", {"joe@example.com", "joe", "example.com", "exampl", "com"}),
        ("/etc/app/text.py", {"etc/app/text.py", "etc", "app", "text.py", "text", "py"}),
        ("https://a.io/b?id=77", {"https://a.io/b?id=77", "https", "a.io", "io", "id", "77"}),
        ("AT&T", {"at&t", "at"}),
        ("C++", {"c++", "c"}),
        ("C#", {"c#", "c"}),
        (".net", {".net", "net"}),
        ("2026-11-29T10:30", {"2026-11-29:10:30", "20261129", "2026", "11", "29", "10", "30"}),
        ("aGVsbG8gd29ybGQK", {"agvsbg8gd29ybgqk"}),
    ],
)
def test_a_name_is_kept_whole_and_in_parts(token: str, parts: set[str]) -> None:
    assert set(analyse(token).terms) == parts
    assert set(analyse(f"see {token}, please").terms) == parts | {"see", "pleas"}
    assert analyse(token).length == 1


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("text.py", "edit agents/domain/text.py now"),
        ("searchMemory", "call search_memory"),
        ("search memory", "call searchMemory"),
        ("python", "needs python3"),
        ("18.6", "runs v18.6."),
        ("2026-11-29", "at 2026-11-29T10:30:00Z"),
        ("memory", "AGENTS_MEMORY_TOOLSETS=core"),
        ("c++", "I like C++."),
        ("C++17", "we build with C++17"),
        ("👍", "great 👍🏽!"),
        ("❤", "❤️"),
        ("🇩🇪", "from 🇩🇪🇯🇵"),
        ("->", "maps a -> b"),
        ("???", "what?????"),
    ],
)
def test_names_signs_and_emoji_are_found(query: str, row: str) -> None:
    """F30, D10"""
    assert finds(query, row)


def test_a_long_token_is_found_by_itself_and_by_its_parts() -> None:
    url = "https://example.com/" + "/".join(f"segment{n}" for n in range(20))
    row = analyse(f"see {url} there")
    assert max(map(len, row.terms)) <= MAX_LEXEME_CHARS
    assert query_terms(url)[0].startswith("#")
    assert query_terms(url)[0] in row.terms
    assert "segment7" in row.terms
    assert query_terms(url + "x")[0] not in row.terms


def test_a_keyword_late_in_a_long_text_is_found() -> None:
    """D5"""
    assert "zanzibar" in analyse("lorem ipsum " * 100_000 + "Zanzibar").terms
    assert "桑给" in analyse("数据。" * 100_000 + "桑给巴尔").terms


@pytest.mark.parametrize(
    "query", ["->", "???", "C++ ->", "!=", "' | & ! ( ) : * \\", '"', "", "\0"]
)
def test_a_query_of_punctuation_has_a_defined_result(query: str) -> None:
    """D10"""
    assert all(query_terms(query))
    assert "''" not in to_tsquery_literal(query_terms(query)).replace("''''", "")


def test_symbols_are_asked_for_only_without_words() -> None:
    assert query_terms("->") == ("->",)
    assert query_terms("a -> b") == ("b",)


def test_stop_words_are_dropped_only_beside_other_words() -> None:
    """D14"""
    assert query_terms("When did she decide on the name?") == ("decid", "name")
    assert query_terms("the who") == ("the", "who")
    assert "the" in analyse("the who").terms


def test_terms_keep_the_order_of_first_appearance() -> None:
    assert query_terms("zebra apple zebra mango") == ("zebra", "appl", "mango")


def test_frequencies_are_counted_and_capped() -> None:
    assert analyse("tea tea Tea").terms == {"tea": 3}
    assert analyse("tea " * 100).terms == {"tea": MAX_TERM_FREQUENCY}
    assert analyse("tea " * 100).length == 100


def test_data_leaves_room_for_words_and_says_that_it_was_cut() -> None:
    data = "\n".join(f"{n:07x}q{n * 7919:09x}zz{n:08d}" for n in range(40_000))
    row = analyse(data + "\nremember the zanzibar trip")
    assert row.cut
    assert "zanzibar" in row.terms
    assert not analyse("remember the zanzibar trip").cut


def test_a_row_of_nothing_but_new_words_stays_within_its_bound() -> None:
    letters = "bcdfghklmnprstvz"
    words = (
        "".join(letters[(n >> shift) & 15] + "o" for shift in (0, 4, 8, 12)) for n in range(65_536)
    )
    row = analyse(" ".join(words))
    assert row.cut
    stored = sum(len(lexeme.encode()) + 2 * count for lexeme, count in row.terms.items())
    assert MAX_TSVECTOR_BYTES / 2 < stored <= MAX_TSVECTOR_BYTES


@settings(deadline=None)
@given(ANY_TEXT | TOKENS)
def test_any_text_has_bounded_lexemes(text: str) -> None:
    """D10, F31"""
    row = analyse(text)
    for lexeme, count in row.terms.items():
        lexeme.encode("utf-8")
        assert "\0" not in lexeme
        assert 0 < len(lexeme) <= MAX_LEXEME_CHARS
        assert 0 < count <= MAX_TERM_FREQUENCY
    assert not row.cut
    assert row.length >= 0


ASCII = st.text(st.characters(codec="ascii"), max_size=60) | st.text(
    "aZ0._-'/:@+#=?!$ ", max_size=30
)


@settings(deadline=None, max_examples=500)
@given(ANY_TEXT | TOKENS | ASCII)
def test_stretches_between_white_space_are_read_as_in_the_whole_text(text: str) -> None:
    lexemes, length = lexical.read(text)
    counts, words = lexical._count(text)
    assert (Counter(counts), words) == (Counter(lexemes), length)


@settings(deadline=None)
@given((ANY_TEXT | TOKENS | ASCII).map(lambda text: text * 3))
def test_a_text_too_small_for_the_bounds_is_analysed_as_a_large_one(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexical, "_MAX_ENTRY_BYTES", MAX_TSVECTOR_BYTES)
        counted = analyse(text)
    assert analyse(text) == counted


@settings(deadline=None)
@given(ANY_TEXT | TOKENS)
def test_every_row_with_a_word_is_found_by_its_own_text(text: str) -> None:
    terms = query_terms(text)
    assert len(terms) == len(set(terms)) <= MAX_QUERY_TERMS
    assert set(terms) <= analyse(text).terms.keys()


@settings(deadline=None)
@given(st.lists(TOKENS, min_size=1, max_size=5))
def test_lines_together_hold_what_each_holds(lines: list[str]) -> None:
    together = analyse("\n".join(lines)).terms.keys()
    for line in lines:
        assert analyse(line).terms.keys() <= together


def test_literals_quote_what_the_types_treat_as_syntax() -> None:
    """D10"""
    assert to_tsvector_literal({"it's": 2, "a\\b": 1}) == "'it''s':1,2 'a\\\\b':1"
    assert to_tsquery_literal(("it's", "a\\b")) == "'it''s' | 'a\\\\b'"
    assert to_tsquery_literal(("a", "b"), prefix_last=True) == "'a' | 'b':*"
    assert to_tsvector_literal({}) == to_tsquery_literal(()) == ""
    assert to_tsquery_literal((), prefix_last=True) == ""


def test_a_megabyte_of_one_kind_is_analysed() -> None:
    for text in (
        "a" * 1_000_000,
        "水" * 300_000,
        "\u0301" * 500_000,
        "a." * 500_000,
        "-_" * 500_000,
    ):
        assert len(analyse(text).terms) < 500
        assert len(query_terms(text)) <= MAX_QUERY_TERMS
