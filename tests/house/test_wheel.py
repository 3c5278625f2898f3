"""What a user installs: the built wheel, looked at and used from outside the checkout.

`scripts/test --all` builds it, installs it, copies the tests elsewhere and names it in $HERMES_LANCE_TEST_WHEEL.
"""

from __future__ import annotations

import os
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

WHEEL = os.environ.get("HERMES_LANCE_TEST_WHEEL", "")
pytestmark = pytest.mark.skipif(not WHEEL, reason="HERMES_LANCE_TEST_WHEEL is not set")

MODEL = {"LICENSE", "NOTICE", "model.json", "model.onnx", "tokenizer.json"}
SCHEMAS = {"artifacts", "chunks", "edges", "history", "sources", "vectors"}


@pytest.fixture(scope="module")
def names() -> set[str]:
    with zipfile.ZipFile(WHEEL) as wheel:
        return set(wheel.namelist())


def test_it_holds_the_package_and_nothing_else(names):
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"hermes_lance"}


def test_it_holds_schemas_model_and_licences(names):
    assert {f"hermes_lance/schemas/{name}.json" for name in SCHEMAS} <= names
    assert {f"hermes_lance/models/minilm/{name}" for name in MODEL} <= names
    assert "hermes_lance/py.typed" in names
    (licence,) = [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]
    with zipfile.ZipFile(WHEEL) as wheel:
        assert b"MIT License" in wheel.read(licence)


def test_it_holds_no_test_data_and_no_bytecode(names):
    kinds = {Path(name).suffix for name in names if ".dist-info/" not in name}
    assert kinds <= {"", ".py", ".typed", ".json", ".onnx", ".yaml", ".md", ".txt"}
    texts = {Path(name).parent.as_posix() for name in names if name.endswith(".txt") and ".dist-info/" not in name}
    assert texts == {"hermes_lance/parse/rules"}, "rules of suspicion are data of the package"
    assert [name for name in names if "__pycache__" in name or "/tests/" in name or "/docs/" in name] == []


def test_the_installed_package_is_the_one_under_test():
    import hermes_lance
    from hermes_lance.core import schema

    package = Path(hermes_lance.__file__).parent
    assert package.parent.name == "site-packages"
    assert schema.schemas_folder() == package / "schemas"
    assert "Editable" not in (metadata.distribution("hermes-lance").read_text("direct_url.json") or "")
    assert schema.digests()


def test_the_command_is_installed():
    (command,) = metadata.entry_points(group="console_scripts", name="hermes-lance")
    assert callable(command.load())
