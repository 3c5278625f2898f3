"""Plugins are named as text, so a test has to follow every name to its class."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.core import config, plugins, registry

EVERY = [(category, name) for category, names in registry.BUILT_IN.items() for name in names]


@pytest.mark.parametrize(("category", "name"), EVERY)
def test_every_built_in_plugin_can_be_loaded(category, name):
    assert isinstance(registry.plugin_class(category, name), type)


def test_the_defaults_name_plugins_that_exist():
    chosen = config.Config(home=Path("unused"))
    assert set(chosen.parsers.values()) <= set(registry.names("parsers"))
    assert set(chosen.chunkers.values()) <= set(registry.names("chunkers"))
    assert chosen.embedder in registry.names("embedders")


def test_every_alias_leads_to_a_plugin():
    for category, aliases in registry.ALIASES.items():
        # No reranker at all has a name, too.
        assert set(aliases.values()) <= {*registry.BUILT_IN.get(category, ()), "disabled"}


def test_declared_signatures_are_those_of_the_classes():
    for category, declared in registry.SIGNATURES.items():
        assert declared.keys() == registry.BUILT_IN[category].keys()
        for name, pattern in declared.items():
            sizes = {"target_tokens": 300, "overlap_tokens": 40} if category == "chunkers" else {}
            made = registry.plugin_class(category, name)(**sizes)
            assert made.signature() == pattern.format(target=300, overlap=40)


def package(folder, groups):
    (folder / "extra-1.0.dist-info").mkdir(parents=True)
    (folder / "extra-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: extra\nVersion: 1.0\n")
    (folder / "extra-1.0.dist-info" / "entry_points.txt").write_text(groups)
    (folder / "extra.py").write_text(
        "class Mine:\n    def __init__(self, **sizes): pass\n    def signature(self): return 'mine/7'\n"
    )


@pytest.mark.parametrize("packed", [False, True])
def test_a_parser_of_another_package_takes_the_place_of_ours(tmp_path, packed):
    package(tmp_path / "site", "[hermes_lance.parsers]\nhtml = extra:Mine\n[hermes_lance.chunkers]\nnew = extra:Mine\n")
    place = tmp_path / "site"
    if packed:
        place = shutil.make_archive(str(tmp_path / "site"), "zip", tmp_path / "site")
    code = (
        "from hermes_lance.core import registry; print(registry.built_in_signature('parsers', 'html'),"
        " registry.built_in_signature('parsers', 'svg'), registry.plugin_class('parsers', 'html')().signature(),"
        " 'new' in registry.names('chunkers'))"
    )
    assert printed(code, place) == "None svg/2 mine/7 True"


@pytest.mark.parametrize("category", plugins.CATEGORIES)
def test_a_package_can_add_to_every_category(tmp_path, category):
    package(tmp_path, f"[hermes_lance.{category}]\nmy-own = extra:Mine\n")
    code = f"from hermes_lance.core import plugins; print(plugins.find({category!r}, 'my_own').source)"
    assert printed(code, tmp_path) == "entry-point"


def test_packages_that_add_nothing_to_ours_are_not_asked(tmp_path):
    package(tmp_path, "[console_scripts]\nextra = hermes_lance.hosts.cli.main:main\n")
    code = (
        "import sys; from hermes_lance.core import registry;"
        " print(registry.names('parsers') == sorted(registry.BUILT_IN['parsers']), 'importlib.metadata' in sys.modules)"
    )
    assert printed(code, tmp_path) == "True False"


def printed(code, place):
    """What a fresh process prints that finds packages in a place, too."""
    path = os.pathsep.join([str(Path(hermes_lance.__file__).parent.parent), str(place)])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    return done.stdout.strip()
