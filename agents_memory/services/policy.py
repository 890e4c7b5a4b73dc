"""Where the policy of patches comes from."""

from pathlib import Path

from agents_memory.domain.errors import ConfigurationError
from agents_memory.domain.policy import Policy, parse_policy


def load_policy(path: Path | None) -> Policy:
    """The policy in a file, or the safe defaults without one.

    Raises ConfigurationError when the file cannot be read, or is no policy.
    """
    if path is None:
        return Policy()
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ConfigurationError(
            f"the policy {path} cannot be read ({why}); correct POLICY_PATH, or unset it for the "
            "defaults"
        ) from error
    try:
        return parse_policy(text)
    except ConfigurationError as wrong:
        raise ConfigurationError(f"{path}: {wrong}") from wrong
