"""What means little alone is remembered with what it belongs to (F59)."""

import pytest

from agents_memory.domain.digesting import units
from agents_memory.domain.joining import JOINED_CHARS


def statements(text: str) -> list[str]:
    return [unit.statement for unit in units(text)]


def test_minutes_in_english() -> None:
    assert statements("""\
# Release meeting, 12 November

We met with Mara and Otto. It took an hour. The main decision was to move the release to Friday
because the staging cluster is still flaky. Otto was not happy.

Who owns the pager this week? Mara does. She hands it over on Monday.

## Action items

- Mara: fix the flaky login test
- Otto:
  - write the changelog
  - tell the port office
- Book a room

The following was agreed:

1. Deploy on Tuesdays only
2. No deploys after 16:00

Q: Do we keep the old API?
A: Yes, until March.

Budget

We have 4,000 EUR left for the quarter. That includes the new monitors.
""") == [
        "Release meeting, 12 November: We met with Mara and Otto. It took an hour.",
        "Release meeting, 12 November: The main decision was to move the release to Friday because "
        "the staging cluster is still flaky. Otto was not happy.",
        "Release meeting, 12 November: Who owns the pager this week? Mara does. She hands it over "
        "on Monday.",
        "Action items: Mara: fix the flaky login test",
        "Action items – Otto: write the changelog",
        "Action items – Otto: tell the port office",
        "Action items: Book a room",
        "The following was agreed: Deploy on Tuesdays only",
        "The following was agreed: No deploys after 16:00",
        "Action items: Q: Do we keep the old API? A: Yes, until March.",
        "Action items: Budget: We have 4,000 EUR left for the quarter. That includes the new "
        "monitors.",
    ]


def test_notes_in_german() -> None:
    assert statements("""\
# Urlaub 2027

Wir fahren im Juli für drei Wochen nach Schweden. Das Ferienhaus liegt bei Växjö. Es hat vier
Zimmer. Die Anreise ist am Samstag, dem 3. Juli.

Vor der Abfahrt müssen wir noch einiges klären, auch wenn es bis dahin noch lange hin ist und der
Vermieter bisher nicht geantwortet hat. Zu tun ist:
- Fähre buchen
- Versicherung prüfen, bevor wir die Anzahlung leisten

Wer füttert die Katze? Das macht Frau Weber. Sie hat einen Schlüssel.
""") == [
        "Urlaub 2027: Wir fahren im Juli für drei Wochen nach Schweden. Das Ferienhaus liegt bei "
        "Växjö. Es hat vier Zimmer.",
        "Urlaub 2027: Die Anreise ist am Samstag, dem 3. Juli.",
        "Urlaub 2027: Vor der Abfahrt müssen wir noch einiges klären, auch wenn es bis dahin noch "
        "lange hin ist und der Vermieter bisher nicht geantwortet hat.",
        "Zu tun ist: Fähre buchen",
        "Zu tun ist: Versicherung prüfen, bevor wir die Anzahlung leisten",
        "Urlaub 2027: Wer füttert die Katze? Das macht Frau Weber. Sie hat einen Schlüssel.",
    ]


def test_a_report_in_chinese() -> None:
    assert statements("""\
# 项目会议

我们决定每周二发布新版本。玛拉同意了。这样可以减少风险。数据库备份由奥托每天晚上检查。

谁负责监控？奥托负责。

待办事项：

- 修复登录测试
- 通知港口办公室

服务器将于三月迁移到新机房，届时会停机两个小时。好的。
""") == [
        "项目会议：我们决定每周二发布新版本。玛拉同意了。这样可以减少风险。",
        "项目会议：数据库备份由奥托每天晚上检查。",
        "项目会议：谁负责监控？奥托负责。",
        "待办事项：修复登录测试",
        "待办事项：通知港口办公室",
        "项目会议：服务器将于三月迁移到新机房，届时会停机两个小时。好的。",
    ]


def test_items_without_a_lead_in_and_lines_of_names_stand_together() -> None:
    assert statements("- milk\n- honey from the market\n- eggs") == [
        "milk; honey from the market; eggs"
    ]
    assert statements("Mara: the pager\nOtto: the gauge") == ["Mara: the pager; Otto: the gauge"]
    assert statements("牛奶\n\n鸡蛋") == ["牛奶；鸡蛋"]


def test_nothing_is_joined_across_a_heading_and_nothing_grows_without_bound() -> None:
    assert statements("# A\n\nIt rains.\n\n# B\n\nIt snows.") == ["A: It rains.", "B: It snows."]
    found = units("He came. " * 3_000 + "And " + "so on and so forth " * 200)
    assert all(len(unit.text) <= max(JOINED_CHARS, 600) for unit in found)


@pytest.mark.parametrize("text", ["It rains.", "- milk", "Why?", "你好", "x:"])
def test_what_is_all_there_is_stays_as_it_is(text: str) -> None:
    assert all(unit.text in text for unit in units(text))
    assert len(units(text)) <= 1
