"""The model file of the suite is a well-formed GGUF."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fixtures.tiny_gguf import TEMPLATE, write_tiny_gguf

_NUMBERS = {4: "<I", 5: "<i", 6: "<f", 7: "<?"}


class Reader:
    """Reads what the format's description says, without a word from the writer."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0

    def number(self, form: str) -> Any:
        [value] = struct.unpack_from(form, self._raw, self._at)
        self._at += struct.calcsize(form)
        return value

    def string(self) -> str:
        length = self.number("<Q")
        self._at += length
        return self._raw[self._at - length : self._at].decode()

    def value(self, kind: int) -> Any:
        if kind == 8:
            return self.string()
        if kind == 9:
            inner, count = self.number("<I"), self.number("<Q")
            return [self.value(inner) for _ in range(count)]
        return self.number(_NUMBERS[kind])

    def tensors(self, count: int) -> dict[str, NDArray[np.float32]]:
        infos = []
        for _ in range(count):
            name, rank = self.string(), self.number("<I")
            shape = [self.number("<Q") for _ in range(rank)]
            assert self.number("<I") == 0
            infos.append((name, shape[::-1], self.number("<Q")))
        start = self._at + -self._at % 32
        found = {}
        for name, shape, offset in infos:
            assert offset % 32 == 0
            found[name] = np.frombuffer(
                self._raw, "<f4", int(np.prod(shape)), start + offset
            ).reshape(shape)
        return found


@pytest.fixture
def raw(tmp_path: Path) -> bytes:
    path = tmp_path / "tiny.gguf"
    write_tiny_gguf(path, context=512)
    return path.read_bytes()


def test_header_metadata_and_tensors_are_read_back(raw: bytes) -> None:
    reader = Reader(raw)
    assert reader.number("<4s") == b"GGUF"
    assert reader.number("<I") == 3
    tensors, entries = reader.number("<Q"), reader.number("<Q")
    metadata = {}
    for _ in range(entries):
        key = reader.string()
        metadata[key] = reader.value(reader.number("<I"))
    assert metadata["general.architecture"] == "qwen3"
    assert metadata["qwen3.context_length"] == 512
    assert metadata["qwen3.attention.layer_norm_rms_epsilon"] == pytest.approx(1e-6)
    assert metadata["tokenizer.ggml.add_bos_token"] is False
    assert metadata["tokenizer.chat_template"] == TEMPLATE
    tokens, types = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
    assert len(tokens) == len(types) == len(set(tokens)) == metadata["qwen3.vocab_size"]
    assert tokens[metadata["tokenizer.ggml.eos_token_id"]] == "<|im_end|>"
    assert tokens[ord("a")] == "a"
    found = reader.tensors(tensors)
    size = len(tokens)
    assert np.array_equal(found["token_embd.weight"], np.eye(size))
    assert found["output.weight"].shape == (size, size)
    assert int(np.argmax(found["output.weight"][:, ord("c")])) == ord("d")
    assert found["blk.0.attn_q.weight"].shape == (64, size)
    assert len(raw) < 1_100_000


def test_the_file_is_the_same_every_time(raw: bytes, tmp_path: Path) -> None:
    write_tiny_gguf(tmp_path / "again.gguf", context=512)
    assert (tmp_path / "again.gguf").read_bytes() == raw
