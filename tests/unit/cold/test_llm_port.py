"""The port for language models without a model."""

from pydantic import BaseModel

from cold.llm.port import Failure, LanguageModel, Rules, Turn


class _Fact(BaseModel):
    text: str


async def test_without_a_model_the_answer_is_a_failure_with_a_reason() -> None:
    """F113: rules do what they can; what needs a model is told that there is none."""
    model: LanguageModel = Rules()
    answer = await model.complete("extract", [Turn("user", "The heron stood there.")], _Fact)
    assert answer == Failure("no model is set up")
