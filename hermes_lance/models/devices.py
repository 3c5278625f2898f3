"""Which device a torch model runs on. A device that was asked for and is not there is an error, not another device."""

from __future__ import annotations

import importlib
from typing import Any

from hermes_lance.core.errors import ConfigError, ModelUnavailable


def chosen_device(wanted: str | None, key: str) -> str:
    """The torch name of the device: `wanted` if it is there, else the best one present (`cuda`, `mps`, `cpu`).

    `wanted` is `auto` or none, `cuda`, `cuda:1`, `mps`, `cpu`, or any other name that this torch knows. `key` is the
    setting that an error names. Imports torch.
    """
    torch = importlib.import_module("torch")
    if wanted is None or wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if _mps(torch) else "cpu"
    if not isinstance(wanted, str):
        raise ConfigError(f"{key} is {wanted!r}; auto, cuda, cuda:1, mps or cpu")
    try:
        device = torch.device(wanted.strip().lower())
    except RuntimeError:
        raise ModelUnavailable(
            f"torch knows no device {wanted!r}",
            hint=f"Set {key} to auto, cuda, mps or cpu; this machine has {_all(torch)}.",
        ) from None
    there = {"cuda": torch.cuda.is_available, "mps": lambda: _mps(torch)}.get(device.type, lambda: True)()
    if there and device.type == "cuda" and device.index is not None:
        there = device.index < torch.cuda.device_count()
    if not there:
        raise ModelUnavailable(
            f"the device {wanted} is not available: this torch ({torch.__version__}) finds {_all(torch)}",
            hint=f"Set {key} to auto, or install a torch and a driver for that device.",
        )
    return str(device)


def _mps(torch: Any) -> bool:
    return bool(getattr(torch.backends, "mps", None) and torch.backends.mps.is_available())


def _all(torch: Any) -> str:
    found = [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    return ", ".join([*found, *(["mps"] if _mps(torch) else []), "cpu"])
