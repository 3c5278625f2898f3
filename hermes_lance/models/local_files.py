"""Models on this machine: a folder or a snapshot in the local Hugging Face cache, never fetched, never run as code.

What is missing becomes an error that names the model, the place that was looked at, the way to get it, and what serves
meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hermes_lance.core.config import expanded
from hermes_lance.core.errors import ModelUnavailable

WEIGHT_SUFFIXES = {".safetensors", ".bin", ".onnx"}
SAMPLES, SAMPLE_BYTES = 64, 16_384
"""How much of a weights file its fingerprint reads: all of 1.2 GB would take a second at every start."""


@dataclass(frozen=True, slots=True)
class LocalModels:
    """Finds the models of one tier; the fields are what its messages name."""

    plugin: str
    keys: str
    """Where the options of the tier stand in the configuration."""
    meanwhile: str
    """What serves without the model, as a sentence."""

    def folder(self, model: str, cache_folder: str | None) -> Path:
        """The folder with the model's files: `model` itself if it is one, else its snapshot in the local cache.

        Raises `ModelUnavailable`.
        """
        path = Path(expanded(model))
        if path.is_dir():
            return self._complete(path, model)
        if path.is_absolute() or model.startswith((".", "~")) or model.count("/") > 1:
            raise ModelUnavailable(f"{self.plugin}: there is no folder {path}", hint=f"Correct {self.keys}.model.")
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

        cache = Path(expanded(cache_folder)) if cache_folder else Path(constants.HF_HUB_CACHE)
        try:
            return self._complete(Path(snapshot_download(model, cache_dir=cache, local_files_only=True)), model)
        except (LocalEntryNotFoundError, HFValidationError, HfHubHTTPError) as error:
            expected = cache / f"models--{model.replace('/', '--')}"
            raise ModelUnavailable(
                f"{self.plugin}: {model} is not on this machine (looked for {expected})",
                hint=self._how_to_fetch(model),
            ) from error

    def _complete(self, folder: Path, model: str) -> Path:
        if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
            raise ModelUnavailable(
                f"{self.plugin}: {folder} holds no model (config.json is missing)", hint=self._how_to_fetch(model)
            )
        if not any(file.suffix in WEIGHT_SUFFIXES for file in _files(folder)):
            raise ModelUnavailable(f"{self.plugin}: {folder} holds no weights", hint=self._how_to_fetch(model))
        return folder

    def _how_to_fetch(self, model: str) -> str:
        return (
            f"Nothing is fetched silently. Where the network is allowed: accept the terms at "
            f"https://huggingface.co/{model} if it is gated, run `hf auth login`, then `hf download {model}`. "
            f"Or copy its folder here and set {self.keys}.model to that path. {self.meanwhile}"
        )


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and ".git" not in file.parts)


def fingerprint(folder: Path) -> str:
    """16 hexadecimal digits over all configuration, the tokenizer, and evenly spaced samples of the weights."""
    total = hashlib.sha256()
    for file in _files(folder):
        if file.suffix not in {".json", ".txt", ".model", *WEIGHT_SUFFIXES}:
            continue
        size = file.stat().st_size
        total.update(f"{file.relative_to(folder).as_posix()}\0{size}\0".encode())
        with file.open("rb") as stream:
            if size <= SAMPLES * SAMPLE_BYTES:
                total.update(stream.read())
                continue
            for sample in range(SAMPLES):
                stream.seek((size - SAMPLE_BYTES) * sample // (SAMPLES - 1))
                total.update(stream.read(SAMPLE_BYTES))
    return total.hexdigest()[:16]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps the loading bar of transformers off stderr, which belongs to the caller."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def one_line(error: Exception) -> str:
    """What an error says, without line ends, at most 300 characters."""
    return " ".join(str(error).split())[:300]
