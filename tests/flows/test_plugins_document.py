"""The plugin of docs/PLUGINS.md works as it stands there: in the folder of a home, and as an installed package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.testing import check_parser

PROJECT = Path(__file__).parents[2]
CARDS = """\
BEGIN:VCARD
VERSION:3.0
FN:Ada Lovelace
TEL;TYPE=home:+44 20 7946 0000
NOTE:Knows the analytical engine
END:VCARD
BEGIN:VCARD
FN:Grace Hopper
EMAIL:grace@example.org
END:VCARD
"""


def blocks(language: str) -> list[str]:
    """The pieces of code of the document in a language."""
    text = (PROJECT / "docs" / "PLUGINS.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with an address book and the configuration of the document."""
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "people.vcf").write_text(CARDS, encoding="utf-8")
    (tmp_path / "workspace" / "notes.md").write_text("# Engines\n\nAn engine needs coal.\n", encoding="utf-8")
    choice = blocks("yaml")[1]
    assert choice.startswith("knowledgebase:")
    (tmp_path / "config.yaml").write_text(choice + "  embedders: {active: builtin_hash}\n", encoding="utf-8")
    return tmp_path


def check(library) -> None:
    report = library.index()
    assert (report.warnings, report.problems) == ([], [])
    hit = library.search("Ada Lovelace telephone")[0]
    assert (hit.path, hit.section) == ("people.vcf", ("Ada Lovelace",))
    assert "Telephone: +44 20 7946 0000" in hit.text
    assert "analytical" not in hit.text, "the option of the document leaves notes out"


def test_the_folder_of_the_document_is_a_plugin(home):
    folder = home / "plugins" / "workspace" / "parsers" / "contacts"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(blocks("python")[0], encoding="utf-8")
    (folder / "plugin.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    library = hermes_lance.open(home)
    check(library)
    state = library.status(files=True)
    assert state["plugins"]["parsers"]["source"] == "builtin, folder"
    assert {one["path"]: one["parser"] for one in state["files_detail"]} == {
        "notes.md": "markdown/2",
        "people.vcf": "contacts/1",
    }
    assert all(one.ok for one in library.doctor())


def test_the_plugin_is_short_and_keeps_its_contract_as_the_document_tests_it():
    plugin, test = blocks("python")
    assert len(plugin.splitlines()) <= 45
    names: dict[str, object] = {}
    exec(compile(plugin + test, "PLUGINS.md", "exec"), names)
    names["test_contacts"]()  # type: ignore[operator]
    check_parser(names["ContactsParser"](), {"people.vcf": CARDS.encode()})  # type: ignore[operator]


def test_the_same_class_works_as_an_installed_package(home, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    (site / "my_package.py").write_text(blocks("python")[0], encoding="utf-8")
    entry = re.findall(r"```toml\n(.*?)```", (PROJECT / "docs" / "PLUGINS.md").read_text("utf-8"), re.DOTALL)
    group, target = (line.strip() for line in entry[0].strip().splitlines())
    named = group.removeprefix("[project.entry-points.").strip('"]')
    info = site / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{named}]\n{target.replace(chr(34), '')}\n", encoding="utf-8")
    code = (
        f"import json, hermes_lance; library = hermes_lance.open({str(home)!r}); report = library.index();"
        " hit = library.search('Ada Lovelace telephone')[0];"
        " source = library.status()['plugins']['parsers']['source'];"
        " print(json.dumps([report.warnings, hit.path, list(hit.section), source]))"
    )
    path = os.pathsep.join([str(PROJECT), str(site)])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert json.loads(done.stdout) == [[], "people.vcf", ["Ada Lovelace"], "builtin, entry-point"]
