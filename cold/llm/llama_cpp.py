"""Answers from a GGUF file in this process, through llama-cpp-python (the extra `local`).

The library aborts or crashes the process on misuse, so what is done here follows what was measured
with 0.3.36: one thread, a grammar that was parsed once before it is used, a prompt that was counted
before it is evaluated, a limit of tokens that is never 0, and a stop between two tokens.
"""

import asyncio
import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from cold.llm.backend import Generated, Request
from cold.llm.gbnf import compile_schema
from cold.llm.port import Failure, Turn, Why
from cold.llm.wording import legible

# Fixed, so that a question gets the same answer again on the same machine.
SEED = 7
# The rule that every grammar of ours begins with.
_ROOT = b"root"


class LlamaCpp:
    """A `Backend` in this process. `context` is n_ctx, prompt and answer together; `threads` of
    the processor. The file is loaded at the first use, and again at the next when that failed.
    """

    def __init__(self, path: Path, *, context: int, threads: int) -> None:
        self._path = path
        self._context = context
        self._threads = threads
        self._runtime: _Runtime | None = None
        self._closed = threading.Event()
        # The only thread that ever touches the model: two at once abort the process.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="language-model")

    @property
    def model(self) -> str:
        return self._path.name

    async def generate(self, request: Request) -> Generated | Failure:
        if self._closed.is_set():
            return _unavailable("the model was closed; open a new one")
        stop = _Stop(self._closed)
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._answer, request, stop)
        finally:
            # A cancelled wait leaves the thread running; it ends at the next token.
            stop.ask()

    async def close(self) -> None:
        self._closed.set()
        # Not waited for: the thread ends by itself after the token it is at.
        self._thread.shutdown(wait=False)

    def _answer(self, request: Request, stop: "_Stop") -> Generated | Failure:
        if stop.asked:
            return _stopped()
        if self._runtime is None:
            loaded = _load(self._path, self._context, self._threads)
            if isinstance(loaded, Failure):
                return loaded
            self._runtime = loaded
        request.tally.requests += 1
        return self._runtime.answer(request, stop)


class _Stop:
    """Asked for by one call, or by the end of all."""

    def __init__(self, closed: threading.Event) -> None:
        self._closed = closed
        self._own = threading.Event()

    def ask(self) -> None:
        self._own.set()

    @property
    def asked(self) -> bool:
        return self._own.is_set() or self._closed.is_set()


def _load(path: Path, context: int, threads: int) -> "_Runtime | Failure":
    try:
        # Here, because it is compiled at its installation and few have it.
        import llama_cpp
        from llama_cpp import llama_chat_format
    except (ImportError, OSError, RuntimeError) as error:
        return _unavailable(
            f"llama-cpp-python cannot be loaded ({type(error).__name__}); install it with "
            "`pip install 'mcp-agents-memory[local]'`, or set LOCAL_LLM_BASE_URL"
        )
    try:
        model = llama_cpp.Llama(
            model_path=str(path),
            n_ctx=context,
            n_threads=threads,
            n_threads_batch=threads,
            seed=SEED,
            verbose=False,
        )
    except (ValueError, OSError, RuntimeError) as error:
        return _unavailable(
            f"{path} cannot be loaded as a language model ({type(error).__name__}); check that "
            "LOCAL_LLM_MODEL_PATH names a whole GGUF file that this account may read"
        )
    template = model.metadata.get("tokenizer.chat_template")
    if not template:
        return _unavailable(
            f"{path} has no chat template; choose a model that follows instructions (Instruct)"
        )
    render = llama_chat_format.Jinja2ChatFormatter(
        template=template,
        eos_token=_text_of(model, model.token_eos()),
        bos_token=_text_of(model, model.token_bos()),
    )
    return _Runtime(llama_cpp, model, render)


def _text_of(model: Any, token: int) -> str:
    if token < 0:
        return ""
    raw: bytes = model.detokenize([token], special=True)
    return raw.decode("utf-8", "replace")


class _Runtime:
    """A loaded model; every method runs in its one thread."""

    def __init__(self, library: Any, model: Any, render: Callable[..., Any]) -> None:
        self._library = library
        self._model = model
        self._render = render
        self._grammars: dict[str, Any] = {}
        self._stop: _Stop | None = None
        # Asked for during the evaluation of a prompt, when there are no tokens to stop between.
        # The reference keeps the callback alive.
        self._abort = library.ggml_abort_callback(self._asked_to_stop)
        library.llama_set_abort_callback(model.ctx, self._abort, ctypes.c_void_p(None))

    def answer(self, request: Request, stop: _Stop) -> Generated | Failure:
        prompt = self._prompt(request.turns)
        if isinstance(prompt, Failure):
            return prompt
        room = self._model.n_ctx() - max(1, request.max_tokens)
        if len(prompt) > room:
            return Failure(
                Why.TOO_LONG,
                f"the prompt has {len(prompt)} tokens and there is room for {room}; raise "
                "LOCAL_LLM_CONTEXT, or give it less at a time",
            )
        grammar = self._grammar(compile_schema(request.schema))
        if grammar is None:
            return Failure(
                Why.REJECTED, f"llama.cpp does not read the grammar of {request.name}; report this"
            )
        request.tally.tokens_in += len(prompt)
        self._stop = stop
        try:
            return self._generated(request, prompt, grammar, stop)
        except RuntimeError:
            self._model.reset()
            if stop.asked:
                return _stopped()
            return _unavailable("llama.cpp could not evaluate the prompt; is there enough memory?")
        finally:
            self._stop = None

    def _generated(
        self, request: Request, prompt: list[int], grammar: Any, stop: _Stop
    ) -> Generated | Failure:
        pieces: list[str] = []
        finish = None
        chunks: Iterator[Any] = self._model.create_completion(
            prompt,
            # 0 and None mean without a limit.
            max_tokens=max(1, request.max_tokens),
            temperature=request.temperature,
            top_k=0,
            top_p=1.0,
            repeat_penalty=1.0,
            seed=SEED,
            grammar=grammar,
            stream=True,
        )
        with closing(chunks):  # type: ignore[type-var]
            for chunk in chunks:
                [choice] = chunk["choices"]
                pieces.append(choice["text"])
                # One a token, or one a character of several tokens; the last has no text.
                request.tally.tokens_out += bool(choice["text"])
                finish = choice["finish_reason"] or finish
                if stop.asked:
                    return _stopped()
        return Generated("".join(pieces), "stop" if finish == "stop" else "length")

    def _prompt(self, turns: Sequence[Turn]) -> list[int] | Failure:
        """The tokens of a chat as the file's own template words it, thinking off."""
        messages = [{"role": turn.role, "content": legible(turn.text)} for turn in turns]
        try:
            rendered = self._render(messages=messages, enable_thinking=False)
        except Exception as error:  # noqa: BLE001 (a template is a program of whoever made the file)
            return Failure(
                Why.REJECTED,
                f"the chat template of the model takes no such conversation "
                f"({type(error).__name__}); choose another model",
            )
        # Special, because the template's own control tokens have to count; those in the data are
        # broken up.
        tokens = self._model.tokenize(
            rendered.prompt.encode("utf-8"), add_bos=not rendered.added_special, special=True
        )
        return list(tokens)

    def _grammar(self, text: str) -> Any | None:
        """The grammar, parsed once by itself: an unparsable one kills the process when it is used.

        An empty one would mean none.
        """
        if text in self._grammars:
            return self._grammars[text]
        library = self._library
        vocabulary = library.llama_model_get_vocab(self._model.model)
        sampler = library.llama_sampler_init_grammar(vocabulary, text.encode("utf-8"), _ROOT)
        if not text or not sampler:
            return None
        library.llama_sampler_free(sampler)
        self._grammars[text] = library.LlamaGrammar.from_string(text, verbose=False)
        return self._grammars[text]

    def _asked_to_stop(self, _data: object) -> bool:
        return self._stop is not None and self._stop.asked


def _stopped() -> Failure:
    return _unavailable("the call was stopped before its answer was complete")


def _unavailable(reason: str) -> Failure:
    return Failure(Why.UNAVAILABLE, reason)
