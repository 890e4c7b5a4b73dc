"""The port for language models without a model."""

from pydantic import BaseModel

from cold.llm.port import Failure, LanguageModel, Role, Rules, Turn, Why


class _Fact(BaseModel):
    text: str


async def test_without_a_model_the_answer_is_a_failure_with_a_reason() -> None:
    """F113: rules do what they can; what needs a model is told that there is none."""
    model: LanguageModel = Rules()
    answer = await model.complete(Role.EXTRACT, [Turn("user", "The heron stood there.")], _Fact)
    assert isinstance(answer, Failure)
    assert answer.why is Why.NO_MODEL
    assert "LOCAL_LLM_BASE_URL" in answer.reason
    await model.close()
