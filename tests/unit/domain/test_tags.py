import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.tags import (
    MAX_TAG_CHARS,
    is_generic_tag,
    normalise_tag,
    project_from_directory,
)

ANY_TEXT = st.text(st.characters(codec=None))


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("Order Queue", "order-queue"),
        ("order__queue", "order-queue"),
        ("  Connection\tPool \n", "connection-pool"),
        ("--harbor--api--", "harbor-api"),
        ("harbor – api", "harbor-api"),
        ("node.js", "node.js"),
        (".NET", ".net"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("CI/CD", "ci/cd"),
        ("#postgres", "postgres"),
        ("'quoted'.", "quoted"),
        ("(pool)", "pool"),
        ("ＨＡＲＢＯＲ", "harbor"),
        ("ﬁle", "file"),
        ("Straße", "strasse"),
        ("Cafe\u0301", "café"),
        ("주문 대기열", "주문-대기열"),
        ("订单队列", "订单队列"),
        ("очередь заказов", "очередь-заказов"),
        ("कतार", "कतार"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("x\0y\ud800z\u202e", "x-y-z"),
    ],
)
def test_a_name_gets_its_one_spelling_in_its_own_script(name: str, tag: str) -> None:
    """F112"""
    assert normalise_tag(name) == tag


@pytest.mark.parametrize("name", ["", " ", "---", "🎉", "...", "\0", "\ud800", "#", "\u0301"])
def test_a_name_without_letters_or_digits_is_no_tag(name: str) -> None:
    assert normalise_tag(name) is None
    assert is_generic_tag(name)


def test_a_long_name_is_cut_to_fifty_characters_and_never_ends_in_a_hyphen() -> None:
    assert normalise_tag("a" * 49 + " " + "b" * 1_000_000) == "a" * 49


@given(ANY_TEXT)
def test_normalising_twice_changes_nothing_and_the_result_can_be_stored(name: str) -> None:
    tag = normalise_tag(name)

    if tag is not None:
        assert 0 < len(tag) <= MAX_TAG_CHARS
        assert normalise_tag(tag) == tag
        assert "\0" not in tag
        tag.encode()


@pytest.mark.parametrize(
    "name",
    ["Code", "project", "FIX", "todo", "2026", "10.5", "Fehler", "x", "问题"],
)
def test_names_that_say_nothing_are_generic(name: str) -> None:
    """F69"""
    assert is_generic_tag(name)


@pytest.mark.parametrize(
    "name", ["harbor-api", "postgres", "Zertifikat", "库存", "茶", "i18n", "c++"]
)
def test_names_that_say_something_are_not_generic(name: str) -> None:
    assert not is_generic_tag(name)


@pytest.mark.parametrize(
    ("cwd", "project"),
    [
        ("/home/mara/work/harbor-api", "harbor-api"),
        ("/home/mara/work/harbor-api/", "harbor-api"),
        ("/home/mara/work/harbor-api/src/handlers", "harbor-api"),
        ("/home/mara/code/Harbor_API/services/orders", "harbor-api"),
        ("~/projects/wayfarer", "wayfarer"),
        ("/Users/mara/Documents/GitHub/tidepool-shop/app", "tidepool-shop"),
        ("/home/mara/go/src/github.com/mara/wayfarer/cmd", "wayfarer"),
        ("/home/mara/hausgeist", "hausgeist"),
        ("/home/mara/clients/acme/shop", "shop"),
        ("/srv/harbor-api/src/handlers", "harbor-api"),
        ("/workspaces/harbor-api", "harbor-api"),
        ("/tmp/harbor-api", "harbor-api"),
        (r"C:\Users\Mara\source\repos\Harbor Api\src", "harbor-api"),
        (r"D:\harbor-api", "harbor-api"),
        ("C:/Users/Mara/code/harbor-api", "harbor-api"),
        (r"\\server\share\harbor-api", "harbor-api"),
        ("/mnt/c/Users/mara/code/harbor-api", "harbor-api"),
        ("/home/mara/work/여행-계획", "여행-계획"),
        ("/home/mara/work/harbor-api/.worktrees/fix-pool", "harbor-api"),
        ("/home/mara/work/harbor-api/.claude/worktrees/fix-pool", "harbor-api"),
        ("/home/mara/work/harbor-api.worktrees/fix-pool", "harbor-api"),
        ("/srv/harbor-api/worktrees/fix-pool", "harbor-api"),
    ],
)
def test_a_working_directory_names_its_project(cwd: str, project: str) -> None:
    """F113"""
    assert project_from_directory(cwd) == project


@pytest.mark.parametrize(
    "cwd",
    [
        None,
        "",
        "/",
        "/root",
        "/home/mara",
        "/Users/mara/",
        r"C:\Users\Mara",
        "C:\\",
        "/home/mara/Desktop",
        "/home/mara/Documents",
        "/home/mara/work",
        "/home/mara/code/",
        "/home/mara/code/src/github.com/mara",
        "/tmp",
        "/tmp/tmpx91k_2",
        "/tmp/3f2a9c0d7be1",
        "/var/folders/zz/1q8v/T/scratch",
        "/private/var/folders/zz/1q8v/T",
        "/app",
        "/workspace",
        "/usr/src",
        "/home/mara/work/2026-10-01",
    ],
)
def test_a_place_that_is_no_project_names_none(cwd: str | None) -> None:
    assert project_from_directory(cwd) is None


@pytest.mark.parametrize(
    ("root", "project"),
    [
        ("/home/mara/elsewhere/harbor-api", "harbor-api"),
        ("/home/mara/work/harbor-api/.worktrees/fix-pool", "harbor-api"),
        ("/srv/git/harbor-api.git", "harbor-api"),
        (r"C:\Users\Mara\harbor-api\\", "harbor-api"),
    ],
)
def test_the_repository_root_goes_before_the_working_directory(root: str, project: str) -> None:
    assert project_from_directory(f"{root}/packages/core/lib", root) == project


def test_a_repository_of_the_home_folder_or_the_workspace_names_no_project_of_its_own() -> None:
    assert project_from_directory("/home/mara", "/home/mara") is None
    assert project_from_directory("/home/mara/work/harbor-api", "/home/mara/work") == "harbor-api"


@pytest.mark.parametrize(
    "remote",
    [
        "git@github.com:mara/harbor-api.git",
        "https://github.com/mara/Harbor-API",
        "https://mara@git.example.org/harbor-api.git/",
        "ssh://git@git.example.org:2222/mara/harbor-api.git",
        r"C:\repos\harbor-api.git",
    ],
)
def test_the_remote_names_the_project_whatever_the_folder_is_called(remote: str) -> None:
    assert project_from_directory("/x/checkout-2", "/x/checkout-2", remote) == "harbor-api"


@given(ANY_TEXT | st.none(), ANY_TEXT | st.none(), ANY_TEXT | st.none())
def test_no_path_at_all_can_break_the_rule(
    cwd: str | None, root: str | None, remote: str | None
) -> None:
    project = project_from_directory(cwd, root, remote)

    assert project is None or normalise_tag(project) == project


@given(
    st.lists(st.sampled_from([*r"\/:.~", "home", "mara", "work", "worktrees", "C", "github.com"]))
)
def test_no_path_of_likely_parts_can_break_the_rule(parts: list[str]) -> None:
    path = "".join(parts)

    project = project_from_directory(path, path, path)

    assert project is None or normalise_tag(project) == project
