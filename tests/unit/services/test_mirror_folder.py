"""The folder of the mirror: what is written, left alone and removed (F65)."""

import asyncio
import os
from pathlib import Path

import pytest

from agents_memory.domain.errors import MirrorUnavailable
from agents_memory.domain.mirror import Owner, Page, front_matter
from agents_memory.services import mirror_folder
from agents_memory.services.mirror_folder import Done, open_folder

MARA = Owner("memory", "mara")
JO = Owner("memory", "jo")


def page(name: str, words: str = "words", folder: str = "tags", owner: Owner = MARA) -> Page:
    return Page(folder, name, front_matter(owner, "tag", {}) + words + "\n")


async def write(root: Path, *pages: Page, owner: Owner = MARA) -> Done:
    async with open_folder(root, owner) as folder:
        return folder.write(pages)


async def clear(root: Path, *kept: str) -> Done:
    async with open_folder(root, MARA) as folder:
        return folder.remove_others("tags", kept)


async def test_what_is_the_same_is_not_touched(tmp_path: Path) -> None:
    first = await write(tmp_path / "new" / "mirror", page("a.md"), page("b.md"))
    root = tmp_path / "new" / "mirror"
    os.utime(root / "tags" / "a.md", ns=(1, 1))
    second = await write(root, page("a.md"), page("b.md", "others"))
    assert first.written == ["tags/a.md", "tags/b.md"]
    assert (second.unchanged, second.written) == (["tags/a.md"], ["tags/b.md"])
    assert (root / "tags" / "a.md").stat().st_mtime_ns == 1
    assert (root / "tags" / "b.md").read_text().endswith("others\n")
    assert sorted(os.listdir(root / "tags")) == ["a.md", "b.md"]


async def test_what_was_longer_before_is_written_anew(tmp_path: Path) -> None:
    await write(tmp_path, page("a.md", "long words"))
    await write(tmp_path, page("a.md", "long"))
    assert (tmp_path / "tags" / "a.md").read_text() == page("a.md", "long").text


async def test_a_file_of_somebody_else_is_never_replaced_or_removed(tmp_path: Path) -> None:
    (tmp_path / "tags").mkdir()
    foreign = {"a.md": "# my notes\n", "b.md": page("b.md", owner=JO).text, "c.md": ""}
    for name, text in foreign.items():
        (tmp_path / "tags" / name).write_text(text)
    done = await write(tmp_path, *(page(name) for name in foreign))
    assert done.foreign == ["tags/a.md", "tags/b.md", "tags/c.md"]
    assert (await clear(tmp_path)).removed == []
    for name, text in foreign.items():
        assert (tmp_path / "tags" / name).read_text() == text


async def test_pages_that_are_no_more_go(tmp_path: Path) -> None:
    await write(tmp_path, page("a.md"), page("gone.md"), page("É.md"))
    # A file system may give back another spelling of a name.
    assert (await clear(tmp_path, "A.md", "e\u0301.md")).removed == ["tags/gone.md"]


async def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text(page("a.md").text)
    root = tmp_path / "mirror"
    (root / "tags").mkdir(parents=True)
    (root / "tags" / "a.md").symlink_to(outside / "a.md")
    (root / "tags" / "dangling.md").symlink_to(outside / "new.md")
    (root / "months").symlink_to(outside)
    done = await write(root, page("a.md", "x"), page("dangling.md"), page("b.md", folder="months"))
    assert sorted(done.foreign) == ["months/b.md", "tags/a.md", "tags/dangling.md"]
    async with open_folder(root, MARA) as folder:
        assert folder.list_ours("months") == []
        assert folder.remove_others("months", ()).removed == []
    assert (await clear(root)).removed == []
    assert os.listdir(outside) == ["a.md"]
    assert (outside / "a.md").read_text() == page("a.md").text


async def test_pipes_folders_and_files_in_the_way_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "tags" / "folder.md").mkdir(parents=True)
    os.mkfifo(tmp_path / "tags" / "pipe.md")
    (tmp_path / "months").write_text("not a folder")
    done = await write(
        tmp_path, page("folder.md"), page("pipe.md"), page("a.md", folder="months"), page("ok.md")
    )
    assert sorted(done.foreign) == ["months/a.md", "tags/folder.md", "tags/pipe.md"]
    assert done.written == ["tags/ok.md"]
    assert (tmp_path / "months").read_text() == "not a folder"


async def test_files_are_private(tmp_path: Path) -> None:
    await write(tmp_path / "mirror", page("a.md"))
    assert (tmp_path / "mirror" / "tags" / "a.md").stat().st_mode & 0o777 == 0o600


async def test_what_a_killed_run_left_goes_and_a_like_name_stays(tmp_path: Path) -> None:
    (tmp_path / "tags").mkdir()
    part, like = ".mirror-0123456789abcdef.part", ".mirror-notes.part"
    for name in (part, like):
        (tmp_path / "tags" / name).write_text("half")
    await write(tmp_path, page("a.md"))
    assert sorted(os.listdir(tmp_path / "tags")) == [like, "a.md"]


async def test_a_failed_write_leaves_the_old_page_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(tmp_path, page("a.md", "old"))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MirrorUnavailable, match="No space left on device"):
        await write(tmp_path, page("a.md", "new"))
    assert (tmp_path / "tags" / "a.md").read_text() == page("a.md", "old").text
    assert os.listdir(tmp_path / "tags") == ["a.md"]


async def test_where_disks_know_no_links_pages_appear_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert (await write(tmp_path, page("a.md"))).written == ["tags/a.md"]


async def test_two_runs_come_one_after_the_other(tmp_path: Path) -> None:
    inside: list[str] = []

    async def run(name: str) -> None:
        async with open_folder(tmp_path, MARA) as folder:
            inside.append(name)
            folder.write([page("a.md", name)])
            await asyncio.sleep(0)
            inside.append(name)

    await asyncio.gather(*map(run, "abc"))
    assert inside[::2] == inside[1::2]
    assert (tmp_path / "tags" / "a.md").read_text() == page("a.md", inside[-1]).text


async def test_who_waits_too_long_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror_folder, "BUSY_S", 0.1)
    async with open_folder(tmp_path, MARA):
        with pytest.raises(MirrorUnavailable, match="another run"):
            async with open_folder(tmp_path, MARA):
                pass


async def test_a_folder_that_cannot_be_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(MirrorUnavailable, match="set MIRROR_DIR"):
        await write(tmp_path / "file" / "mirror", page("a.md"))
