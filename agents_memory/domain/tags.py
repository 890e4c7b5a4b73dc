"""Tags without a model: one spelling for every name, and the project from where one works."""

import re
import unicodedata

MAX_TAG_CHARS = 50

# Signs that belong to names (`node.js`, `c++`, `ci/cd`) and the joiners some scripts need.
_INSIDE = ".+#&/'·\u200c\u200d"
_BODY = re.compile(r"(?:^\.(?=[^\W\d_]))?[^\W_].*")


def normalise_tag(name: str) -> str | None:
    """The one spelling of a tag, or None when no letter or digit is left.

    NFKC and casefold; spaces, underscores and other signs become one `-`; letters, marks and
    digits of any script stay, and so do the signs of `node.js`, `c++`, `ci/cd`, `.net`. At most
    50 characters. Normalising twice changes nothing.
    """
    # A tag never needs more, and normalising may lengthen one character eighteenfold.
    text = name[: 8 * MAX_TAG_CHARS]
    for _ in range(3):
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = (char if char in _INSIDE or _in_a_script(char) else "-" for char in text)
    body = _BODY.search(re.sub(r"-{2,}", "-", "".join(kept)))
    if body is None:
        return None
    return body.group()[:MAX_TAG_CHARS].rstrip("-.&/'·\u200c\u200d")


def _in_a_script(char: str) -> bool:
    # Letters, marks and numbers: the first letter of a category names its class.
    return unicodedata.category(char)[0] in "LMN"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GENERIC = _words(
    """
    code coding project projects repo repository app application apps program software script
    fix fixes fixed bug bugs issue issues error errors problem problems change changes update
    updates feature features task tasks todo work working test tests testing debug debugging
    question questions answer help example examples file files folder directory data text note
    notes idea ideas thing things stuff misc general other others new old main default untitled
    temp tmp demo sandbox playground hello thanks please discussion conversation chat message
    messages user assistant agent memory info information details summary development dev
    implementation refactor refactoring function functions method class line lines output input
    result results way time day today tomorrow yesterday week month year
    projekt projekte fehler problem probleme änderung änderungen aufgabe aufgaben frage fragen
    antwort beispiel beispiele datei dateien ordner daten notiz notizen idee ideen sache sachen
    sonstiges allgemein neu danke bitte arbeit zeit tag woche monat jahr heute morgen gestern
    código proyecto arreglo problema cambio tarea pregunta archivo trabajo ejemplo
    코드 프로젝트 오류 에러 문제 수정 변경 작업 질문 파일 테스트 오늘 내일 어제 시간 사람
    代码 项目 问题 错误 修复 修改 任务 文件 测试 今天 明天 昨天 时间 内容 地方
    """
)


def is_generic_tag(name: str) -> bool:
    """Whether a tag says nothing (`code`, `fix`, `todo`, a bare number, one Latin letter)."""
    tag = normalise_tag(name)
    if tag is None or tag in _GENERIC:
        return True
    if all(char.isdigit() or char in ".-/+" for char in tag):
        return True
    return len(tag) == 1 and tag < "\u0370"


_TEMPORARY = _words("tmp temp cache .cache")
_STRUCTURE = _words(
    """
    src lib bin test tests docs doc dist build out target node_modules vendor scripts .git .venv
    venv .worktrees .claude .codex .gemini .cursor .vscode .idea site-packages
    """
)
_WORKSPACES = _words(
    """
    code coding work projects project projekte proyectos repos repo repositories git github
    gitlab dev devel development workspace workspaces sources source src go programming
    ideaprojects pycharmprojects webstormprojects clionprojects rustroverprojects
    androidstudioprojects xcodeprojects
    """
)
_PLACES = _words(
    """
    desktop documents downloads pictures music videos public dropbox onedrive nextcloud
    schreibtisch dokumente escritorio documentos bureau home users root var opt srv mnt media
    usr etc local share app data appdata library
    """
)
_HOSTS = _words("github.com gitlab.com bitbucket.org codeberg.org git.sr.ht")
_MACHINE_MADE = re.compile(
    r"[0-9._-]+|(?=.*\d)[0-9a-f-]{8,}|(?=.*\d)tmp\w+|tmp\.\w+", re.IGNORECASE
)


def project_from_directory(
    cwd: str | None, repository_root: str | None = None, remote: str | None = None
) -> str | None:
    """The normalised project tag of a working directory, or None when nothing sensible is known.

    The remote's name comes first (it is the same on every machine and in every worktree), then
    the repository root's folder, then the working directory: the folder below a workspace root
    such as `~/code`, else the last folder that is no home, system, temporary or source folder.
    Paths may be of Windows or POSIX, whatever runs here.
    """
    return _from_remote(remote) or _from_root(repository_root) or _from_cwd(cwd)


def project_by_rules(hint: str | None, cwd: str | None) -> str | None:
    """The project of a message: what its writer called it, else what its directory says."""
    named = None if hint is None else normalise_tag(hint)
    return named or project_from_directory(cwd)


def _from_remote(remote: str | None) -> str | None:
    # `https://host/owner/name.git`, `git@host:owner/name.git`, `C:\repos\name.git`
    parts = [part for part in re.split(r"[/\\:]", (remote or "").strip()) if part]
    return _name(parts[-1]) if len(parts) > 1 else None


def _from_root(root: str | None) -> str | None:
    parts = _main_worktree(_below_home(_parts(root)))
    # A repository kept in the home folder itself, or in ~/code, names no project.
    if not parts or (len(parts) == 1 and _is_place(parts[0])):
        return None
    return _name(parts[-1])


def _from_cwd(cwd: str | None) -> str | None:
    parts = _main_worktree(_below_home(_parts(cwd)))
    start = 0
    while start < len(parts) and _is_place(parts[start]):
        start += 1
    in_workspace = any(part.casefold() in _WORKSPACES for part in parts[:start])
    rest = parts[start:]
    if rest and rest[0].casefold() in _HOSTS:
        # ~/src/github.com/owner/name, as ghq and old Go lay it out
        return _name(rest[2]) if len(rest) > 2 else None
    if in_workspace:
        return _name(rest[0]) if rest else None
    cut = next((i for i, part in enumerate(rest) if part.casefold() in _STRUCTURE), len(rest))
    names = (_name(part) for part in reversed(rest[:cut]) if not _is_place(part))
    return next((name for name in names if name), None)


def _parts(path: str | None) -> list[str]:
    path = (path or "").strip()
    windows = re.match(r"[A-Za-z]:[\\/]|\\\\", path)
    parts = re.split(r"[\\/]+" if windows else r"/+", path[2:] if windows else path)
    return [part for part in parts if part not in ("", ".", "..")]


def _below_home(parts: list[str]) -> list[str]:
    lower = [part.casefold() for part in parts]
    skip = 0
    if lower[:1] == ["mnt"] and len("".join(lower[1:2])) == 1:
        skip = 2  # a Windows drive seen from WSL
    elif lower[:1] == ["private"]:
        skip = 1  # where macOS keeps the real /tmp and /var
    lower = lower[skip:]
    if lower[:2] == ["var", "folders"]:
        # Temporary folders of macOS, whose names mean nothing.
        return []
    if lower[:1] in (["home"], ["users"]):
        skip += 2
    elif lower[:1] in (["root"], ["~"]):
        skip += 1
    return parts[skip:]


def _main_worktree(parts: list[str]) -> list[str]:
    """The path up to the project when it lies in `…/project/.worktrees/branch` or alike."""
    for i, part in enumerate(parts):
        lower = part.casefold()
        if lower.endswith((".worktrees", "-worktrees")) and len(lower) > len(".worktrees"):
            # `project.worktrees/branch`, beside the project
            return [*parts[:i], part[: -len(".worktrees")]]
        if lower in (".worktrees", "worktrees", ".git") and i and not _is_place(parts[i - 1]):
            # `project/.claude/worktrees/branch` has one hidden folder more
            return parts[: i - 1 if parts[i - 1].startswith(".") else i]
    return parts


def _is_place(part: str) -> bool:
    lower = part.casefold()
    return lower in _PLACES or lower in _WORKSPACES or lower in _TEMPORARY


def _name(part: str) -> str | None:
    part = re.sub(r"\.git$", "", part, flags=re.IGNORECASE)
    return None if _MACHINE_MADE.fullmatch(part) else normalise_tag(part)
