"""The default embedder: the bundled int8 all-MiniLM-L6-v2 on onnxruntime, without network and without torch.

Its files lie in `minilm/` beside this module and are checked against `model.json` before use. Every text is run
alone, never in a padded batch: activations are rounded by their range, so the vector of a text would otherwise
depend on its neighbours, and batches bring no speed on a CPU.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import Cancelled, ModelUnavailable
from hermes_lance.core.ids import sha256_hex
from hermes_lance.core.text import well_formed

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Vectors

FOLDER = Path(__file__).parent / "minilm"
REMEDY = "Reinstall hermes-lance, or choose another embedder: `knowledgebase.embedders.active: builtin_hash`."
CHARACTERS_READ = 16_384
"""Far more than the window can hold; spares the tokenizer a text of megabytes of which it would keep a page."""
SPECIAL_TOKENS = 2
"""[CLS] and [SEP], which stand around every text."""


class MiniLmEmbedder:
    """384 numbers for each text, from its first 256 word pieces; mean pooling, length 1.

    Method: W. Wang et al., "MiniLM", 2020, fine-tuned by the sentence-transformers authors. One session serves
    all threads. Model files that are missing or of another size raise `ModelUnavailable` at once, altered ones at
    their first use.
    """

    name = "minilm"
    threads = 2
    """More may be asked for; they gain what there are cores."""

    def __init__(self, folder: Path | str | None = None) -> None:
        self._folder = Path(folder) if folder is not None else FOLDER
        self._facts = _facts(self._folder)
        for name, promised in self._facts["files"].items():
            self._check(name, self._stat(name) == promised["bytes"])
        self.dimensions: int = self._facts["dimensions"]
        self.window_tokens: int = self._facts["window_tokens"]
        self.scripts: frozenset[str] = frozenset(self._facts["scripts"])
        self.fusion_weight: float = self._facts["fusion_weight"]
        self._loading = threading.Lock()
        self._session: Any = None
        self._tokenizer: Any = None

    def signature(self) -> str:
        """Model name, both file hashes, pooling, window and normalisation; costs no loading."""
        files = self._facts["files"]
        model, tokenizer = files["model.onnx"]["sha256"][:16], files["tokenizer.json"]["sha256"][:8]
        return f"{self._facts['name']}/{model}/{tokenizer}/{self._facts['pooling']}/{self.window_tokens}/l2"

    def embed_documents(
        self, texts: Sequence[str], *, workers: int = 2, cancelled: Callable[[], bool] | None = None
    ) -> Vectors:
        """float32 `[len(texts), 384]`, zero rows for blank texts.

        `workers` threads share the session, which frees the interpreter lock while it computes. `cancelled` is
        asked before every text; when it says yes, `Cancelled` is raised and nothing is returned.
        """
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        # Longest first: the threads then end at nearly the same time. `pop` takes from the end, and is atomic.
        waiting = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        stop = threading.Event()

        def work() -> None:
            while waiting and not stop.is_set():
                try:
                    index = waiting.pop()
                except IndexError:
                    return
                if cancelled is not None and cancelled():
                    stop.set()
                    return
                self._embed(texts[index], vectors[index])

        if workers <= 1 or len(texts) < 2:
            work()
        else:
            from concurrent.futures import ThreadPoolExecutor

            self._loaded()
            with ThreadPoolExecutor(workers, thread_name_prefix="hermes-lance-embed") as pool:
                running = [pool.submit(work) for _ in range(workers)]
                try:
                    for future in running:
                        future.result()
                except BaseException:
                    waiting.clear()
                    raise
        if stop.is_set():
            raise Cancelled("embedding was stopped by the caller")
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """float32 `[384]`; a question and a passage are embedded alike, this model has no prompts."""
        import numpy as np

        vector = np.zeros(self.dimensions, dtype=np.float32)
        self._embed(text, vector)
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each text with the two marks around it, without truncation."""
        tokenizer = self._words()
        # One by one: `encode_batch` starts a thread pool of its own, which then warns on stderr after every fork.
        return [len(tokenizer.encode(well_formed(text)).ids) for text in texts]

    def token_starts(self, text: str) -> list[int]:
        """Character offset at which each word piece of `text` begins, without the marks; for cutting windows."""
        return [start for start, _ in self._words().encode(text, add_special_tokens=False).offsets]

    def _embed(self, text: str, into: Vectors) -> None:
        import numpy as np

        if not text or text.isspace():
            return
        session, tokenizer = self._loaded()
        pieces = tokenizer.encode(well_formed(text[:CHARACTERS_READ])).ids
        if len(pieces) <= SPECIAL_TOKENS:
            return
        if len(pieces) > self.window_tokens:
            pieces = [*pieces[: self.window_tokens - 1], pieces[-1]]
        ids = np.array([pieces], dtype=np.int64)
        into[:] = session.run(["embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]

    def _words(self) -> Any:
        if self._tokenizer is None:
            with self._loading:
                if self._tokenizer is None:
                    self._tokenizer = _tokenizer(self._read("tokenizer.json"))
        return self._tokenizer

    def _loaded(self) -> tuple[Any, Any]:
        tokenizer = self._words()
        if self._session is None:
            with self._loading:
                if self._session is None:
                    self._verify("model.onnx")
                    self._session = _session(self._folder / "model.onnx")
        return self._session, tokenizer

    def _stat(self, name: str) -> int:
        try:
            return (self._folder / name).stat().st_size
        except OSError as error:
            raise self._unreadable(name, error) from error

    def _read(self, name: str) -> bytes:
        """The bytes of a model file, with the SHA-256 that `model.json` promises."""
        try:
            data = (self._folder / name).read_bytes()
        except OSError as error:
            raise self._unreadable(name, error) from error
        self._check(name, sha256_hex(data) == self._facts["files"][name]["sha256"])
        return data

    def _verify(self, name: str) -> None:
        """The same without the bytes: they would cost a third of the time of the hash to be laid out in memory."""
        try:
            with (self._folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise self._unreadable(name, error) from error
        self._check(name, found == self._facts["files"][name]["sha256"])

    def _unreadable(self, name: str, error: OSError) -> ModelUnavailable:
        return ModelUnavailable(
            f"embedder minilm: {self._folder / name} cannot be read ({error.strerror})", hint=REMEDY
        )

    def _check(self, name: str, fits: bool) -> None:
        if not fits:
            raise ModelUnavailable(
                f"embedder minilm: {self._folder / name} is not the file that model.json names", hint=REMEDY
            )


def _facts(folder: Path) -> Mapping[str, Any]:
    file = folder / "model.json"
    try:
        content: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"embedder minilm: {file} cannot be read ({error})", hint=REMEDY) from error
    wanted = {"name", "files", "dimensions", "window_tokens", "pooling", "scripts", "fusion_weight"}
    if not isinstance(content, dict) or not wanted <= content.keys():
        raise ModelUnavailable(f"embedder minilm: {file} is not a description of this model", hint=REMEDY)
    return content


def _tokenizer(data: bytes) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_str(data.decode("utf-8"))


def _session(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Parallel work comes from our threads; a pool inside the session gains nothing and spins while idle.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        # From the file, not from its bytes: these would stay in memory beside the parsed model.
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ModelUnavailable(
            f"embedder minilm: onnxruntime {onnxruntime.__version__} cannot load the model ({error})", hint=REMEDY
        ) from error
