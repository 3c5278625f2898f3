"""The local cross-encoder tier: a model that reads question and passage together, from a folder or the local cache.

Needs the `local` extra (torch). Nothing is fetched and no code of a model is run; text stays on this machine. How much
it helps depends on the model: measure with your own questions before you leave it on.
"""

from __future__ import annotations

import importlib.util
import json
import math
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hermes_lance.core.errors import ConfigError, ModelUnavailable, PluginMissing
from hermes_lance.core.records import Candidate
from hermes_lance.core.text import well_formed
from hermes_lance.models.devices import chosen_device
from hermes_lance.models.local_files import LocalModels, fingerprint, one_line, quiet
from hermes_lance.models.rerank_input import LIMIT_SECONDS, checked_limit, passage_of

DEFAULT_MODEL = "BAAI/bge-reranker-v2-m3"
SHORT_NAMES = {DEFAULT_MODEL.partition("/")[2]: DEFAULT_MODEL}
"""As older configurations name it."""
KEYS = "knowledgebase.rerankers.local_cross_encoder"
LOCAL = LocalModels("reranker local_cross_encoder", KEYS, "Meanwhile hits keep their fused order.")
CHARACTERS_OF_A_TOKEN = 16
"""More than any token of text has on average; what is longer need not be shown to the tokenizer."""


class LocalCrossEncoder:
    """Scores of a sentence-transformers cross-encoder with one output, as a probability (0 to 1).

    `model` is a folder or the id of a model in the local Hugging Face cache (`cache_folder`, else the usual place).
    `max_length` tokens of question and passage together are read, the longer one of both is cut; `batch_size` pairs go
    through the model at once. `device` is `auto`, `cuda`, `mps`, `cpu` or a torch name, by default the best one
    present. Construction finds the folder (`PluginMissing`, `ModelUnavailable`), first use loads the weights. Threads
    may share it: they take turns.

    Method: R. Nogueira and K. Cho, "Passage Re-ranking with BERT", 2019.
    """

    name = "local_cross_encoder"

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        device: str | None = None,
        cache_folder: str | None = None,
        batch_size: int = 8,
        max_length: int = 512,
        timeout_seconds: float = LIMIT_SECONDS,
    ) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise PluginMissing(
                "reranker local_cross_encoder: the package sentence-transformers is not installed",
                hint='Install it with `pip install "hermes-lance[local]"`.',
            )
        for option, value, least in (("batch_size", batch_size, 1), ("max_length", max_length, 16)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigError(f"{KEYS}.{option} is {value!r}; a whole number of at least {least}")
        self.timeout_seconds = checked_limit(self.name, timeout_seconds)
        self.model = SHORT_NAMES.get(model, model)
        self.folder = LOCAL.folder(self.model, cache_folder)
        self._device = device
        self._batch_size = batch_size
        self._max_length = max_length
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._signature: str | None = None

    @property
    def device(self) -> str:
        """Where the model runs; loads it."""
        with self._lock:
            return str(self._model().device)

    def signature(self) -> str:
        """Model name, fingerprint of its configuration and weights, and length; loads nothing."""
        if self._signature is None:
            name = Path(self.model).name
            self._signature = f"{self.name}/{name}/{fingerprint(self.folder)}/{self._max_length}"
        return self._signature

    def scores(self, query: str, candidates: Sequence[Candidate], *, timeout: float) -> list[float | None]:
        """A score for each candidate, none for blank ones. `ModelUnavailable` once `timeout` seconds are over: a batch
        that has begun is finished, and nobody waits for it."""
        until = time.monotonic() + timeout
        longest = self._max_length * CHARACTERS_OF_A_TOKEN
        question = well_formed(query)[:longest]
        texts = [well_formed(passage_of(one))[:longest] for one in candidates]
        filled = [position for position, text in enumerate(texts) if text and not text.isspace()]
        # Alike lengths share a batch, so that little of it is padding.
        filled.sort(key=lambda position: len(texts[position]), reverse=True)
        found: list[float | None] = [None] * len(texts)
        for start in range(0, len(filled), self._batch_size):
            batch = filled[start : start + self._batch_size]
            for position, score in zip(batch, self._scored(question, [texts[at] for at in batch], until), strict=True):
                found[position] = score
        return found

    def _scored(self, question: str, texts: list[str], until: float) -> list[float]:
        if not self._lock.acquire(timeout=max(0.0, until - time.monotonic())):
            raise self._too_late()
        try:
            model = self._model()
            if time.monotonic() >= until:
                raise self._too_late()
            said = model.predict([(question, text) for text in texts], batch_size=len(texts), show_progress_bar=False)
        finally:
            self._lock.release()
        return [_probability(float(logit)) for logit in said]

    def _too_late(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"reranker local_cross_encoder: {self.model} is not done in time",
            hint=f"Raise {KEYS}.timeout_seconds, lower {KEYS}.max_length, or use a smaller model.",
        )

    def _model(self) -> Any:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        import torch
        from sentence_transformers import CrossEncoder

        device = chosen_device(self._device, f"{KEYS}.device")
        try:
            with quiet():
                model = CrossEncoder(
                    str(self.folder),
                    device=device,
                    local_files_only=True,
                    trust_remote_code=False,
                    max_length=_within(self._max_length, self.folder),
                )
        except Exception as error:
            raise ModelUnavailable(
                f"reranker local_cross_encoder: {self.folder} cannot be loaded ({one_line(error)})",
                hint=f"Check that {KEYS}.model names a complete cross-encoder with one output, and {KEYS}.device.",
            ) from error
        outputs = getattr(model, "num_labels", None) or model.config.num_labels
        if outputs != 1:
            raise ModelUnavailable(
                f"reranker local_cross_encoder: {self.model} has {outputs} outputs, so that it is no reranker",
                hint=f"Set {KEYS}.model to a cross-encoder with one output.",
            )
        # The model's own activation rounds to float32, where all good passages become 1.
        activation = "activation_fn" if hasattr(model, "activation_fn") else "default_activation_function"
        setattr(model, activation, torch.nn.Identity())
        return model


def _within(wanted: int, folder: Path) -> int:
    """`wanted` tokens, or fewer where the model has not as many positions."""
    limits = [wanted]
    for file, key in (("config.json", "max_position_embeddings"), ("tokenizer_config.json", "model_max_length")):
        try:
            said = json.loads((folder / file).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue  # the library that loads the model says what is wrong with it
        positions = said.get(key) if isinstance(said, dict) else None
        if isinstance(positions, int) and positions > 0:
            # Models of the RoBERTa family count their positions from 2.
            limits.append(positions - 2 * ("roberta" in str(said.get("model_type"))))
    return max(1, min(limits))


def _probability(logit: float) -> float:
    """The logistic function, in double precision and without overflow."""
    if logit < 0:
        return math.exp(max(logit, -700.0)) / (1.0 + math.exp(max(logit, -700.0)))
    return 1.0 / (1.0 + math.exp(-logit))
