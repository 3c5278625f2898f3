"""The sentence-transformers tier: any such model from a folder or the local cache, never from the network.

Needs the `local` extra (torch). The default model is gated by its publisher, so that a person has to fetch it once
by hand; the error for an absent model says how.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_lance.core.errors import Cancelled, ConfigError, ModelUnavailable, PluginMissing
from hermes_lance.core.signature import digest
from hermes_lance.core.text import well_formed
from hermes_lance.models.devices import chosen_device
from hermes_lance.models.local_files import LocalModels, fingerprint, one_line, quiet

if TYPE_CHECKING:
    from hermes_lance.core.contracts import Vectors

DEFAULT_MODEL = "google/embeddinggemma-300m"
KEYS = "knowledgebase.embedders.local_sentence_transformers"
FALLBACK_WINDOW_TOKENS = 512
LOCAL = LocalModels("embedder local_sentence_transformers", KEYS, "Meanwhile `minilm` works without any of this.")
MATRYOSHKA_MODELS = (
    "embeddinggemma-300m", "nomic-embed-text-v1.5", "nomic-embed-text-v2", "modernbert-embed", "mxbai-embed-large-v1",
    "mxbai-embed-2d", "mxbai-embed-xsmall-v1", "qwen3-embedding", "snowflake-arctic-embed-m-v1.5",
    "snowflake-arctic-embed-m-v2.0", "snowflake-arctic-embed-l-v2.0", "jina-embeddings-v3", "static-retrieval-mrl",
    "static-similarity-mrl", "gte-multilingual-base",
)  # fmt: skip
"""Names, as their publishers write them in lower case, of models that were trained to be cut."""
CARD_CHARACTERS = 200_000


class SentenceTransformersEmbedder:
    """Vectors of a sentence-transformers model, of length 1; the number of dimensions is the model's own.

    `model` is a folder or the id of a model in the local Hugging Face cache (`cache_folder`, else the usual place).
    `dimensions` cuts vectors of models made for that (Matryoshka: known by name, by the model's card, or because
    `matryoshka` says so; others raise `ConfigError`). `device` is `auto`, `cuda`, `mps`, `cpu` or a torch name, by
    default the best one present. The model's own prompts for questions and documents are used when it has them;
    `query_prompt` and `document_prompt` take their place. Construction finds the folder (`PluginMissing`,
    `ModelUnavailable`), first use loads the weights. Threads may share it: they take turns.

    Method of cutting: A. Kusupati et al., "Matryoshka Representation Learning", 2022.
    """

    name = "local_sentence_transformers"
    scripts: frozenset[str] = frozenset()
    fusion_weight = 0.5

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        dimensions: int | None = None,
        matryoshka: bool = False,
        device: str | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        cache_folder: str | None = None,
        batch_size: int = 16,
    ) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise PluginMissing(
                "embedder local_sentence_transformers: the package sentence-transformers is not installed",
                hint='Install it with `pip install "hermes-lance[local]"`.',
            )
        for option, value in (("batch_size", batch_size), ("dimensions", dimensions)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ConfigError(f"{KEYS}.{option} is {value!r}; a whole number of at least 1")
        self.model = model
        self.folder = LOCAL.folder(model, cache_folder)
        self._wanted = dimensions
        self._matryoshka = matryoshka
        self._device = device
        self._prompts = {"encode_query": query_prompt, "encode_document": document_prompt}
        self._batch_size = batch_size
        self._lock = threading.RLock()
        self._loaded: Any = None
        self._signature: str | None = None

    @property
    def dimensions(self) -> int:
        """Width of the vectors; loads the model."""
        own = self._own_dimensions(self._model())
        return min(self._wanted, own) if self._wanted else own

    @property
    def window_tokens(self) -> int:
        """Tokens that the model reads of one text; loads the model."""
        return int(self._model().max_seq_length or FALLBACK_WINDOW_TOKENS)

    @property
    def device(self) -> str:
        """Where the model runs; loads it."""
        return str(self._model().device)

    def signature(self) -> str:
        """Model name, fingerprint of its configuration and weights, width when cut, own prompts; loads nothing."""
        if self._signature is None:
            cut = f"/{self._wanted}" if self._wanted else ""
            own = [f"{side}={prompt}" for side, prompt in self._prompts.items() if prompt is not None]
            prompts = f"/{digest(own)[:8]}" if own else ""
            self._signature = f"{self.name}/{Path(self.model).name}/{fingerprint(self.folder)}{cut}{prompts}/l2"
        return self._signature

    def embed_documents(self, texts: Sequence[str], *, cancelled: Callable[[], bool] | None = None) -> Vectors:
        """float32 `[len(texts), dimensions]`, zero rows for blank texts. `cancelled` is asked before every batch."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        filled = [index for index, text in enumerate(texts) if text and not text.isspace()]
        # Alike lengths share a batch, so that little of it is padding.
        filled.sort(key=lambda index: len(texts[index]), reverse=True)
        for start in range(0, len(filled), self._batch_size):
            if cancelled is not None and cancelled():
                raise Cancelled("embedding was stopped by the caller")
            batch = filled[start : start + self._batch_size]
            vectors[batch] = self._encode([well_formed(texts[index]) for index in batch], "encode_document")
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """float32 `[dimensions]`."""
        import numpy as np

        if not text or text.isspace():
            return np.zeros(self.dimensions, dtype=np.float32)
        vector: Vectors = self._encode([well_formed(text)], "encode_query")[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of the model's own tokenizer with its marks, without prompt and truncation."""
        tokenizer = self._model().tokenizer
        with self._lock:
            return [len(tokenizer(well_formed(text), truncation=False, verbose=False)["input_ids"]) for text in texts]

    def _encode(self, texts: list[str], side: str) -> Any:
        model = self._model()
        with self._lock:
            # Before release 5 there was one method; it takes a prompt by name, where the model has that name.
            encode = getattr(model, side, None)
            options: dict[str, Any] = {}
            prompt = self._prompts[side]
            if prompt is not None:
                encode, options["prompt"] = encode or model.encode, prompt
            elif encode is None:
                encode = model.encode
                names = ["query"] if side == "encode_query" else ["document", "passage", "corpus"]
                options["prompt_name"] = next((name for name in names if (model.prompts or {}).get(name)), None)
            return encode(
                texts,
                batch_size=len(texts),
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
                **options,
            )

    def _model(self) -> Any:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        from sentence_transformers import SentenceTransformer

        device = chosen_device(self._device, f"{KEYS}.device")
        try:
            with quiet():
                model = SentenceTransformer(
                    str(self.folder),
                    device=device,
                    local_files_only=True,
                    trust_remote_code=False,
                    truncate_dim=self._wanted,
                )
        except Exception as error:
            raise ModelUnavailable(
                f"embedder local_sentence_transformers: {self.folder} cannot be loaded ({one_line(error)})",
                hint=f"Check that {KEYS}.model names a complete sentence-transformers model, and {KEYS}.device.",
            ) from error
        own = self._own_dimensions(model)
        if self._wanted is not None and self._wanted > own:
            raise ConfigError(f"{KEYS}.dimensions is {self._wanted}; {self.model} has {own}")
        if self._wanted not in (None, own) and not (self._matryoshka or _made_for_cutting(self.model, self.folder)):
            raise ConfigError(
                f"{KEYS}.dimensions is {self._wanted}; {self.model} has {own}, and nothing says that it may be cut",
                hint=f"Leave the key out. If the model's card speaks of Matryoshka, set {KEYS}.matryoshka: true.",
            )
        return model

    @staticmethod
    def _own_dimensions(model: Any) -> int:
        # The old name of this method warns in release 6, the new one is missing in releases 3 and 4.
        ask = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        kept, model.truncate_dim = model.truncate_dim, None
        try:
            return int(ask())
        finally:
            model.truncate_dim = kept


def _made_for_cutting(model: str, folder: Path) -> bool:
    """Known by its name, or its card is tagged with the loss of such a training."""
    # A snapshot in the cache lies in `models--owner--name/snapshots/hash`.
    cached = [part.rsplit("--", 1)[-1] for part in folder.parts if part.startswith("models--")]
    names = [name.lower() for name in (Path(model).name, *cached)]
    if any(name.startswith(known) for name in names for known in MATRYOSHKA_MODELS):
        return True
    try:
        card = (folder / "README.md").read_text(encoding="utf-8", errors="replace")[:CARD_CHARACTERS]
    except OSError:
        return False
    _, _, rest = card.partition("---\n")
    tags, _, _ = rest.partition("\n---")
    return "matryoshka" in tags.lower()
