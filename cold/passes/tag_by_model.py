"""How a model files a message."""

from agents_memory.domain.affect import Affect
from agents_memory.domain.tags import normalise_tag
from cold.llm import tagging
from cold.llm.port import Answered, Failure, LanguageModel, Role
from cold.passes.tag import Taggable, Tagged, project_of


async def file_by_model(models: LanguageModel, item: Taggable) -> Tagged | Failure:
    """Asks for all of it at once; not inside a transaction.

    What its writer called the project comes before what the model says, and the folder it was
    written in is better than no project.
    """
    message = item.message
    asked = tagging.question(message, item.choices, project_of(message))
    answer = await models.complete(Role.TAGGER, asked, tagging.Filed)
    if not isinstance(answer, Answered):
        return answer
    said = answer.value
    hint = None if message.project_hint is None else normalise_tag(message.project_hint)
    return Tagged(
        hint or tagging.chosen(said, item.choices) or project_of(message),
        tagging.topics(said, message.text),
        Affect(said.valence, said.intensity),
        said.importance,
        backend=f"{answer.provider}:{answer.model}",
    )
