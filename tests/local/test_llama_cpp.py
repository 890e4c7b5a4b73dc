"""llama-cpp-python itself, with a model that the suite writes; run by `make test-local`."""

from typing import Any

import pytest

from tests.fixtures.llama_rules import *  # noqa: F403 (the rules are tests)

pytestmark = pytest.mark.local


@pytest.fixture
def library() -> Any:
    """Not skipped where it is missing: who runs this lane wants it tested."""
    # Here, since the module is collected where the library is not installed.
    import llama_cpp

    return llama_cpp
