"""The environment of this process, to be passed on to a child on purpose."""

import os


def inherited_environment() -> dict[str, str]:
    """A copy of the environment; what a child process of ours gets."""
    return dict(os.environ)
