"""OpenCode: `opencode.db`, and the older tree of JSON files below `storage`.

The tree stays on disk when its sessions move into the database, under the same ids.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from ingest.beside import Beside
from ingest.records import Dropped, Record, Tally, digest_id, plain_id
from ingest.transcripts.json_lines import Object
from ingest.transcripts.line_reader import mapping
from ingest.transcripts.opencode_rows import OpenCodeRows
from ingest.transcripts.opencode_turns import MOST_PARENTS, Session, folder_of, turn
from ingest.transcripts.protocol import DatabaseReader, DocumentReader, FileFacts, Shape, Window

NAME = "opencode"


class OpenCode:
    """The client, as `ingest.transcripts.protocol.Client` asks for."""

    name = NAME

    def enters(self, folder: PurePath) -> bool:
        parts = folder.parts
        return parts[0] == "storage" and (len(parts) == 1 or parts[1] == "message")

    def facts(self, path: PurePath) -> FileFacts | None:
        parts = path.parts
        if len(parts) == 1 and path.name.startswith("opencode") and path.suffix == ".db":
            return FileFacts("", shape=Shape.DATABASE)
        if len(parts) == 4 and parts[:2] == ("storage", "message") and path.suffix == ".json":
            session = plain_id(parts[2]) or digest_id(parts[2])
            return FileFacts(session, shape=Shape.DOCUMENT, last=True)
        return None

    def reader(self, facts: FileFacts, beside: Beside) -> DatabaseReader | DocumentReader:
        if facts.shape is Shape.DATABASE:
            return OpenCodeRows()
        return OpenCodeMessage(beside)


class OpenCodeMessage:
    """The reader of one message and its parts, each a file of its own."""

    def __init__(self, beside: Beside) -> None:
        self.tally: Tally = Counter()
        self.waiting = False
        self._beside = beside
        self._told = False

    def turns(self, document: Any, window: Window) -> Iterator[Record]:
        message = mapping(document)
        self.waiting = False
        name = plain_id(message.get("id")) or plain_id(self._beside.path.stem)
        if self._told or name is None:
            return
        folder = PurePath("storage", "part", name)
        parts = [
            self._beside.document(folder / part)
            for part in self._beside.names(folder)
            if part.endswith(".json")
        ]
        found = turn(name, message, parts, self._session(message), window.rested)
        if found is None:
            self.waiting = True
        elif isinstance(found, Dropped):
            self.tally[found] += 1
            self._told = True
        else:
            self._told = True
            yield found

    def _session(self, message: Object) -> Session:
        name = plain_id(message.get("sessionID")) or self._beside.path.parts[2]
        found, top, subagent, cwd = self._described(name), name, False, None
        for _ in range(MOST_PARENTS):
            cwd = cwd or folder_of(found.get("directory"))
            above = plain_id(found.get("parentID"))
            if above is None:
                break
            top, subagent, found = above, True, self._described(above)
        if cwd is None and (project := plain_id(found.get("projectID"))):
            path = PurePath("storage", "project", f"{project}.json")
            cwd = folder_of(mapping(self._beside.document(path)).get("worktree"))
        return Session(plain_id(top) or digest_id(top), subagent, cwd)

    def _described(self, session: str) -> Object:
        root = PurePath("storage", "session")
        for project in self._beside.names(root):
            found = self._beside.document(root / project / f"{session}.json")
            if isinstance(found, dict):
                return found
        return {}
