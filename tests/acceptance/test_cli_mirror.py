"""The Markdown mirror from the command line (F65)."""

from pathlib import Path

from tests.acceptance.command_line import on_pool
from tests.conftest import Pool


def test_a_mirror_is_written_once_and_then_left_as_it_is(pool: Pool, tmp_path: Path) -> None:
    user = on_pool(pool, tmp_path)
    assert user.run("tags", "add", "harbor", "--about", "The yard").code == 0
    said = user.run("message", "add", "--text", "Grüße 🦩", "--project", "harbor")
    assert said.code == 0, said.stderr
    root = tmp_path / "notes" / "mirror"
    done = user.run("mirror", "--dir", str(root), "--month", "2001-01", "--json")
    assert done.json["written"] == ["index.md"], done.stderr
    assert (done.json["month"], done.json["foreign"]) == ("2001-01", [])
    again = user.run("mirror", "--dir", str(root), "--month", "2001-01")
    assert again.stdout == f"{root}: 0 written, 1 unchanged, 0 removed\n"
    assert "nothing is known of 2001-01" in again.stderr

    (root / "index.md").write_text("# mine\n")
    left = user.run("mirror", "--dir", str(root))
    assert "left alone, since it is not ours: index.md" in left.stderr
    assert (root / "index.md").read_text() == "# mine\n"


def test_where_and_which_month_must_be_said(pool: Pool, tmp_path: Path) -> None:
    user = on_pool(pool, tmp_path)
    nowhere = user.run("mirror")
    assert nowhere.code == 2
    assert "MIRROR_DIR" in nowhere.stderr
    wrong = user.run("mirror", "--dir", str(tmp_path / "m"), "--month", "soon")
    assert wrong.code != 0
    assert "2026-10" in wrong.stderr
