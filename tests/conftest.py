"""What every test may rely on: an environment of its own, no network libraries that fetch, and honest skips.

Marks say what a test needs beyond the base install; `checkout` is given to every test that uses the fixture of that
name, because documents, scripts and schema history do not travel in the wheel.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

NO_GPU = "this machine has no CUDA device"
REFERENCE_DATA = "HERMES_LANCE_REFERENCE_DATA"
KEPT_VARIABLES = {REFERENCE_DATA, "HERMES_LANCE_TEST_WHEEL"}
TOP = Path(__file__).resolve().parent.parent


def pytest_configure(config: pytest.Config) -> None:
    """No setting of the person who runs the tests may change what they see, and no test may touch a real home."""
    for name in [name for name in os.environ if name.startswith("HERMES_") and name not in KEPT_VARIABLES]:
        del os.environ[name]
    os.environ["HERMES_HOME"] = str(TOP / "no-home-was-given-to-this-test")
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before marks select: what a test needs becomes a mark or a skip with its reason."""
    reasons = {
        "reference": None if os.environ.get(REFERENCE_DATA) else f"{REFERENCE_DATA} is not set",
        "torch": None if importlib.util.find_spec("sentence_transformers") else "the `local` extra is not installed",
        "voyage": None if importlib.util.find_spec("voyageai") else "the `voyage` extra is not installed",
        "ocr": None if importlib.util.find_spec("rapidocr") else "the `ocr` extra is not installed",
        "host": None if importlib.util.find_spec("hermes_cli") else "hermes-agent is not installed",
    }
    for item in items:
        if "checkout" in getattr(item, "fixturenames", ()):
            item.add_marker("checkout")
        for mark, reason in reasons.items():
            if reason and item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Looked at here, not while tests are collected: to know, torch has to be loaded."""
    if item.get_closest_marker("gpu"):
        torch = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip(NO_GPU)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """A run without a GPU says so, however quiet it is."""
    skipped = [one for one in terminalreporter.stats.get("skipped", ()) if NO_GPU in str(one.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} test(s) of the device choice not run: {NO_GPU}")


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder of the whole project."""
    if not (TOP / "hermes_lance").is_dir():
        pytest.skip("the tests run outside a checkout")
    return TOP


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of the reference data; for tests with the mark `reference`."""
    return Path(os.environ[REFERENCE_DATA])
