"""Scripts can be run as they are, and say on their first lines what they do."""

from __future__ import annotations

import os
import subprocess

import pytest


@pytest.fixture
def scripts(checkout):
    return [file for file in sorted((checkout / "scripts").iterdir()) if file.is_file()] + [checkout / ".ci" / "run"]


def test_every_script_has_a_run_bit_and_an_interpreter(scripts):
    assert [file.name for file in scripts if not os.access(file, os.X_OK)] == []
    assert [file.name for file in scripts if not file.read_text(encoding="utf-8").startswith("#!/usr/bin/env ")] == []


def test_every_script_begins_with_its_purpose(scripts):
    for file in scripts:
        second = file.read_text(encoding="utf-8").splitlines()[1]
        assert second.startswith(('"""', "# ")) and len(second) > 20, file.name


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["--help"], "Try it"), (["--nonsense"], "Try it"), (["no/such/folder"], "there is no folder no/such/folder")],
)
def test_quickstart_explains_itself_before_it_installs_anything(checkout, arguments, told):
    done = subprocess.run(
        [checkout / "scripts" / "quickstart", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == (0 if arguments == ["--help"] else 2)
    assert told in done.stdout + done.stderr


def test_an_environment_is_installed_once_and_again_when_the_project_changes(checkout, tmp_path):
    """With a stand-in for pip, so that nothing is fetched."""
    project, venv = tmp_path / "project", tmp_path / "venv"
    (project / "scripts").mkdir(parents=True)
    make = project / "scripts" / "make_venv"
    make.write_bytes((checkout / "scripts" / "make_venv").read_bytes())
    make.chmod(0o755)
    (project / "pyproject.toml").write_text("one")
    (venv / "bin").mkdir(parents=True)
    python = venv / "bin" / "python"
    python.write_text('#!/bin/sh\ncase "$*" in *install*) echo "$*" >>"$0.log";; *) echo Python 3.11;; esac\n')
    python.chmod(0o755)

    def installs():
        subprocess.run([make, venv, "-e", "."], check=True, capture_output=True, stdin=subprocess.DEVNULL)
        return (venv / "bin" / "python.log").read_text().count("\n")

    assert [installs(), installs()] == [1, 1]
    (project / "pyproject.toml").write_text("two")
    assert [installs(), installs()] == [2, 2]
