"""Every refusal is documented."""

import re
from pathlib import Path

from agents_memory.domain.errors import Code


def test_every_code_says_what_to_do_next(repository: Path) -> None:
    """F15: in one place."""
    page = (repository / "docs" / "errors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.+) \| (.+) \|$", page, re.MULTILINE)
    assert sorted(code for code, _, _ in rows) == sorted(Code)
    assert all(len(means) > 10 and len(do) > 10 for _, means, do in rows)
