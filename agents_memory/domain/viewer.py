"""Who is shown what is recalled: as much as a later reply can be told to be theirs by."""

from datetime import timedelta
from typing import NamedTuple

WITHIN = timedelta(hours=6)
"""A reply is taken to draw on what was shown so long before it, and a use within it is the same."""

CLOCKS_APART = timedelta(seconds=5)
"""What was shown has the time of the database, a reply its machine's; so far may the two be off."""


class Viewer(NamedTuple):
    """One client's session, and where it takes place.

    `named`: the client itself calls it so, and its transcript has the same name.
    """

    session: str
    named: bool
    platform: str
    device: str
    project: str | None = None
