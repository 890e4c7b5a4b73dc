"""An endpoint of OpenAI's kind: where it is, and the two ways it fails that can be helped."""

from dataclasses import dataclass
from typing import Literal

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.settings import Secret

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where models are asked for; an empty `base_url` is one that was not set.

    `key_setting` is the variable that holds the key, `key_needed` whether nothing goes without.
    `encoding` is the form of vectors that is asked for; both forms are understood.
    """

    base_url: str
    key: Secret | None
    key_setting: str = "EMBEDDING_API_KEY"
    key_needed: bool = False
    encoding: Literal["float", "base64"] = "float"

    def lacks(self) -> str | None:
        """What has to be set before anything can be asked, as a sentence; None when all is there.

        It shows at the first use: an editor's server without a model still searches by keyword.
        """
        if not self.base_url:
            return (
                "EMBEDDING_BASE_URL is not set; set it to the endpoint that has the model, such as "
                "http://localhost:11434/v1"
            )
        if self.key_needed and self.key is None:
            return f"{self.key_setting} is not set; set it here or in the file of settings"
        return None


class Passing(EmbedderUnavailable):
    """The same request may succeed soon; `after_s` is how long the endpoint wants to be left."""

    def __init__(self, message: str, after_s: float | None = None) -> None:
        super().__init__(message)
        self.after_s = after_s


class Refused(EmbedderUnavailable):
    """The endpoint does not take these texts, though it may take others."""
