"""How a model files a message, and whose fault it is when it cannot."""

from agents_memory.domain.affect import Affect
from agents_memory.domain.tags import normalise_tag
from cold.llm import tagging
from cold.llm.port import UNTRIED, Answered, Failure, LanguageModel, Role, Why
from cold.passes.tag import Away, Taggable, Tagged, project_of

# Nobody said anything, about whatever it was.
SILENT = UNTRIED | {Why.TIMED_OUT}


async def file_by_model(
    models: LanguageModel, item: Taggable, *, proven: bool = False
) -> Tagged | Failure | Away:
    """Asks for all of it at once; not inside a transaction.

    What its writer called the project comes before what the model says, and the folder it was
    written in is better than no project. `proven`: it answered `try_out` just now.
    """
    message = item.message
    asked = tagging.question(message, item.choices, project_of(message))
    answer = await models.complete(Role.TAGGER, asked, tagging.Filed)
    if not isinstance(answer, Answered):
        return await _blamed(models, answer, proven=proven)
    said = answer.value
    hint = None if message.project_hint is None else normalise_tag(message.project_hint)
    return Tagged(
        hint or tagging.chosen(said, item.choices) or project_of(message),
        tagging.topics(said, message.text),
        Affect(said.valence, said.intensity),
        said.importance,
        backend=f"{answer.provider}:{answer.model}",
    )


async def try_out(models: LanguageModel) -> Failure | None:
    """Asks about a trivial text; why nobody answers, None where anything is answered."""
    trial = await models.complete(Role.TAGGER, tagging.trial(), tagging.Filed)
    return trial if isinstance(trial, Failure) and trial.why in SILENT else None


async def _blamed(models: LanguageModel, failure: Failure, *, proven: bool) -> Failure | Away:
    """The failure, as the message's own where the model can answer about another one.

    A server may fall or hang over one text each time; taken for away, it would keep all others
    waiting. One that hangs over all of them is no message's fault.
    """
    if failure.why not in SILENT:
        return failure
    if failure.why is Why.TIMED_OUT:
        return failure if proven or await try_out(models) is None else Away(failure)
    if failure.why is not Why.UNAVAILABLE or failure.until is not None:
        return Away(failure)
    if await try_out(models) is not None:
        return Away(failure)
    return Failure(Why.REJECTED, f"it answers, but not about this message: {failure.reason}")
