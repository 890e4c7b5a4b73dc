"""The one way to change what is believed: patches, applied whole or not at all."""

from dataclasses import replace

from agents_memory.domain import patches as domain
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.lexical import analyse, to_tsvector_literal
from agents_memory.domain.memories import MemoryState, Status, same_key
from agents_memory.domain.messages import Trust
from agents_memory.domain.patches import (
    Add,
    Applied,
    Change,
    Operation,
    PatchRequest,
    Pin,
    Remove,
    Update,
    WriteProfile,
)
from agents_memory.domain.redaction import redact
from agents_memory.domain.text import is_blank, repair
from agents_memory.domain.trust import lowest
from agents_memory.storage import memories, patches, tags, traces, work
from agents_memory.storage.connections import Connection, Database, advisory_key
from agents_memory.storage.notify import Hints
from agents_memory.storage.traces import TraceKind

EMBED_STAGE = "embed_memory"


class _Refused(Exception):
    """Carries a refusal out of the transaction, which is thereby rolled back."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


class Patching:
    """Checks and applies patches."""

    def __init__(self, database: Database, hints: Hints) -> None:
        self._database = database
        self._hints = hints

    async def apply(self, request: PatchRequest) -> Applied | Refusal:
        """Applies all operations in one transaction, or none.

        Refusals: INVALID_INPUT, LIMIT_EXCEEDED, MISSING_EVIDENCE, EVIDENCE_NOT_FOUND,
        UNKNOWN_MEMORY, ALREADY_REMOVED, DUPLICATE_MEMORY, VERSION_CONFLICT, IDEMPOTENCY_CONFLICT.
        """
        clean = _clean(request)
        if isinstance(clean, Refusal):
            return clean

        async def transact(connection: Connection) -> Applied:
            async with connection.transaction():
                return await _Transaction(connection, clean, self._database.schema).run()

        try:
            applied = await self._database.run(transact)
        except _Refused as refused:
            return refused.refusal
        self._hints.send()
        return applied


def _clean(request: PatchRequest) -> PatchRequest | Refusal:
    if not 1 <= len(request.operations) <= domain.MAX_OPERATIONS:
        return Refusal(
            Code.LIMIT_EXCEEDED, f"a patch holds 1 to {domain.MAX_OPERATIONS} operations; split it"
        )
    operations = []
    for operation in request.operations:
        cleaned = _clean_operation(operation)
        if isinstance(cleaned, Refusal):
            return cleaned
        operations.append(cleaned)
    if any(isinstance(op, Add | Update) for op in operations) and not request.evidence:
        return Refusal(
            Code.MISSING_EVIDENCE,
            "cite the messages this rests on; save what was said first if it is not stored yet",
        )
    key = request.idempotency_key
    return replace(
        request,
        operations=tuple(operations),
        reason=_text(request.reason)[: domain.MAX_REASON_CHARS],
        evidence=tuple(sorted(set(request.evidence))),
        idempotency_key=None if key is None else _text(key)[: domain.MAX_KEY_CHARS],
    )


def _text(value: str) -> str:
    return redact(repair(value).text).text.strip()


def _clean_operation(operation: Operation) -> Operation | Refusal:
    if isinstance(operation, Remove | Pin):
        return operation
    # Redaction makes a text a little longer or shorter; far above the bound it is not even read.
    if len(operation.content) > 4 * domain.MAX_CONTENT_CHARS:
        return _too_long()
    content = _text(operation.content)
    if len(content) > domain.MAX_CONTENT_CHARS:
        return _too_long()
    if not isinstance(operation, WriteProfile) and is_blank(content):
        return Refusal(Code.INVALID_INPUT, "content is empty; say what is to be remembered")
    if isinstance(operation, Add):
        subject = _text(operation.subject)[: domain.MAX_SUBJECT_CHARS]
        return replace(operation, subject=subject, content=content)
    return replace(operation, content=content)


def _too_long() -> Refusal:
    return Refusal(
        Code.LIMIT_EXCEEDED,
        f"a memory may hold {domain.MAX_CONTENT_CHARS} characters; save the whole text with "
        "save_message and remember its gist",
    )


class _Transaction:
    """One patch on its way into the database."""

    def __init__(self, connection: Connection, request: PatchRequest, schema: str) -> None:
        self._connection = connection
        self._request = request
        self._schema = schema
        self._diffs: list[str] = []
        self._done: list[patches.Operation] = []

    async def run(self) -> Applied:
        connection, request = self._connection, self._request
        payload = domain.payload_digest(request, await patches.find_hmac_key(connection))
        earlier = await self._earlier(payload)
        if earlier is not None:
            return earlier
        trust = await self._trust_of_evidence()
        # Rows are locked in the order of their ids, so that two patches never wait crosswise.
        states = {}
        for memory_id in sorted(
            {op.memory_id for op in request.operations if isinstance(op, Update | Remove | Pin)}
        ):
            states[memory_id] = await self._lock(memory_id)
        patch_id = await patches.next_item_id(connection)
        for operation in request.operations:
            match operation:
                case Add():
                    memory_id = await self._add(operation, trust)
                case Update() | Remove() | Pin():
                    memory_id = operation.memory_id
                    states[memory_id] = await self._change(operation, states[memory_id])
                case WriteProfile():
                    profile_id = await self._write_profile(operation)
                    await patches.keep_profile_version(connection, profile_id, patch_id)
                    continue
            await memories.keep_version(connection, memory_id, patch_id)
            await work.queue_work(connection, memory_id, EMBED_STAGE)
        await patches.insert_patch(
            connection,
            patch_id,
            user_id=request.user_id,
            actor=request.actor,
            tool=request.tool,
            reason=request.reason,
            idempotency_key=request.idempotency_key,
            payload_hmac=payload,
            diff="".join(self._diffs),
        )
        await patches.insert_operations(connection, patch_id, self._done)
        changes = tuple(Change(d.operation, d.item_id, d.to_version) for d in self._done)
        return Applied(patch_id, "".join(self._diffs), changes)

    async def _earlier(self, payload: bytes) -> Applied | None:
        request = self._request
        if request.idempotency_key is None:
            return None
        purpose = f"patch:{request.user_id}:{request.actor}:{request.idempotency_key}"
        found = await patches.find_by_key(
            self._connection,
            request.user_id,
            request.actor,
            request.idempotency_key,
            advisory_key(self._schema, purpose),
        )
        if found is None:
            return None
        if found.payload_hmac != payload:
            raise _Refused(
                Refusal(
                    Code.IDEMPOTENCY_CONFLICT,
                    "this idempotency key was used for another request; take a new key",
                    {"patch_id": found.id},
                )
            )
        done = await patches.list_operations(self._connection, found.id)
        changes = tuple(Change(d.operation, d.item_id, d.to_version) for d in done)
        return Applied(found.id, found.diff, changes, replayed=True)

    async def _trust_of_evidence(self) -> Trust:
        wanted = [number for number in self._request.evidence if 0 < number < 2**63]
        found = await patches.list_evidence(self._connection, wanted, self._request.user_id)
        missing = set(self._request.evidence) - {evidence.id for evidence in found}
        if missing:
            raise _Refused(
                Refusal(
                    Code.EVIDENCE_NOT_FOUND,
                    "these ids name no message that may be cited; search for the right ones",
                    {"missing": sorted(missing)},
                )
            )
        return lowest(evidence.trust for evidence in found)

    async def _lock(self, memory_id: int) -> MemoryState:
        state = None
        if 0 < memory_id < 2**63:
            state = await memories.lock_memory(self._connection, memory_id, self._request.user_id)
        if state is None:
            raise _Refused(
                Refusal(
                    Code.UNKNOWN_MEMORY,
                    f"{memory_id} names no memory; search for the one that is meant "
                    "(messages are evidence and cannot be changed)",
                    {"memory_id": memory_id},
                )
            )
        return state

    async def _add(self, add: Add, trust: Trust) -> int:
        connection, request = self._connection, self._request
        analysis = analyse(f"{add.subject}\n{add.content}")
        p_tag = None
        if request.project is not None:
            p_tag = await tags.find_project(connection, request.project)
        new = memories.NewMemory(
            user_id=request.user_id,
            scope=add.scope,
            platform=request.platform,
            p_tag=p_tag,
            subject=add.subject,
            attribute=add.attribute,
            content=add.content,
            content_key=same_key(add.subject, add.content),
            kind=add.kind,
            importance=add.importance,
            valence=add.valence,
            intensity=add.intensity,
            trust=trust,
            pinned=add.pinned,
            tags=add.tags,
            occurred_at=add.occurred_at,
            lexemes=to_tsvector_literal(analysis.terms),
            lexeme_count=analysis.length,
        )
        memory_id = await memories.insert_memory(connection, new)
        if memory_id is None:
            same = await memories.find_same(connection, new.user_id, new.scope, new.content_key)
            raise _Refused(_duplicate(same))
        await patches.insert_sources(connection, memory_id, 1, request.evidence)
        await traces.insert_traces(connection, [memory_id], TraceKind.CREATED, None)
        self._note(
            "add",
            memory_id,
            None,
            1,
            None,
            domain.projection(add.subject, add.content, pinned=add.pinned),
        )
        return memory_id

    async def _change(self, operation: Update | Remove | Pin, state: MemoryState) -> MemoryState:
        _expect(operation.expected_version, state.version, state.id)
        if state.status is not Status.ACTIVE:
            raise _Refused(
                Refusal(
                    Code.ALREADY_REMOVED,
                    f"memory {state.id} is {state.status}; add a new memory instead",
                    {"memory_id": state.id, "version": state.version},
                )
            )
        after = state
        match operation:
            case Update():
                after = replace(state, content=operation.content)
            case Remove():
                after = replace(state, status=Status.REMOVED, pinned=False)
            case Pin():
                after = replace(state, pinned=operation.pinned)
        after = await self._write(after)
        if isinstance(operation, Update):
            await patches.insert_sources(
                self._connection, state.id, after.version, self._request.evidence
            )
        else:
            await patches.copy_sources(self._connection, state.id, after.version)
        self._note(
            type(operation).__name__.lower(),
            state.id,
            state.version,
            after.version,
            _shown(state),
            _shown(after),
        )
        return after

    async def _write(self, after: MemoryState) -> MemoryState:
        connection, request = self._connection, self._request
        key = same_key(after.subject, after.content)
        if after.status is Status.ACTIVE:
            same = await memories.find_same(connection, request.user_id, after.scope, key)
            if same is not None and same != after.id:
                raise _Refused(_duplicate(same))
        analysis = analyse(f"{after.subject}\n{after.content}")
        version = await memories.write_memory(
            connection,
            after.id,
            after.version,
            content=after.content,
            content_key=key,
            status=after.status,
            pinned=after.pinned,
            lexemes=to_tsvector_literal(analysis.terms),
            lexeme_count=analysis.length,
        )
        assert version is not None, "the row is locked and its version was read under the lock"
        return replace(after, version=version)

    async def _write_profile(self, write: WriteProfile) -> int:
        connection, user_id = self._connection, self._request.user_id
        label = f"profile/{write.kind}"
        current = await patches.lock_profile(connection, user_id, write.kind)
        if current is None:
            _expect(write.expected_version, 0, None)
            made = await patches.insert_profile(connection, user_id, write.kind, write.content)
            if made is not None:
                after = f"{write.content}\n"
                self._note("write_profile", made[0], None, made[1], None, after, label)
                return made[0]
            current = await patches.lock_profile(connection, user_id, write.kind)
            assert current is not None, "another request has just made it"
        profile_id, version, content = current
        _expect(write.expected_version, version, None)
        written = await patches.write_profile(connection, profile_id, version, write.content)
        assert written is not None, "the row is locked"
        before = f"{content}\n" if content else None
        text = f"{write.content}\n" if write.content else None
        self._note("write_profile", profile_id, version, written, before, text, label)
        return profile_id

    def _note(
        self,
        operation: str,
        item_id: int,
        from_version: int | None,
        to_version: int,
        before: str | None,
        after: str | None,
        label: str | None = None,
    ) -> None:
        self._diffs.append(domain.unified(label or f"memory/{item_id}", before, after))
        self._done.append(patches.Operation(operation, item_id, from_version, to_version))


def _shown(state: MemoryState) -> str | None:
    if state.status is not Status.ACTIVE:
        return None
    return domain.projection(state.subject, state.content, pinned=state.pinned)


def _expect(expected: int | None, current: int, memory_id: int | None) -> None:
    if expected is not None and expected != current:
        raise _Refused(
            Refusal(
                Code.VERSION_CONFLICT,
                f"the current version is {current}, not {expected}; read it again and decide anew",
                {"memory_id": memory_id, "version": current},
            )
        )


def _duplicate(memory_id: int | None) -> Refusal:
    return Refusal(
        Code.DUPLICATE_MEMORY,
        f"memory {memory_id} already says this; cite or update it instead",
        {"memory_id": memory_id},
    )
