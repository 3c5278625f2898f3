"""What of a script is kept: its head, and names in its code."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("name", "text", "summary"),
    [
        ("a.py", '"""Send the weekly report."""\nx = """not this"""\n', "Send the weekly report."),
        ("b.py", '# Rotate the keys.\nx = """not this"""\n', "Rotate the keys."),
        ("c.py", 'x = """not this"""\n', "py script c"),
        ("d.py", '"""Older Python."""\nprint "x"\n', "Older Python."),
        (
            "e.sh",
            "#!/bin/sh\nset -eu\n# Push the zone,\n# then reload.\necho x # not this\n",
            "Push the zone, then reload.",
        ),
        ("f.js", "#!/usr/bin/env node\n// Drain the queue\nconst x = 1;\n", "Drain the queue"),
        ("g.mjs", '"use strict";\n/* Roll up\n * the month. */\nlet x;\n', "Roll up the month."),
    ],
)
def test_the_summary_is_what_the_head_says(tree, name, text, summary):
    tree.write(f"root/scripts/{name}", text)
    (found,) = tree.collect().artifacts
    assert found.summary == summary


def test_names_are_searched_and_nothing_else_of_the_code(tree):
    tree.write(
        "root/scripts/run.py",
        "import argparse\nfrom ledger.core import post\nKEY = os.environ['LEDGER_DSN']\nother = os.getenv(\"REGION\")\n"
        "def check_due_date(doc):\n    word = 'marmalade'  # porcupine\n    return quokka(word)\n"
        "class Poster:\n    pass\nparser.add_argument('--dry-run', default='flamingo')\n",
    )
    words = tree.one("script:scripts-run-py").search_text.split()
    assert {"LEDGER_DSN", "REGION", "check_due_date", "Poster", "--dry-run", "due", "ledger"} <= set(words)
    assert not {"marmalade", "porcupine", "quokka", "flamingo"} & set(words)


def test_values_of_shell_variables_are_not_kept(tree):
    tree.write(
        "root/scripts/x.sh", "export BUCKET=marmalade-bucket\nTOKEN=--flamingo-quokka\n./go --only-rehearse $REGION\n"
    )
    text = str(tree.one("script:scripts-x-sh"))
    assert "BUCKET" in text and "--only-rehearse" in text and "REGION" in text
    assert not any(word in text for word in ("marmalade", "flamingo", "quokka"))


def test_one_file_reached_by_two_script_folders_has_both_ids(tree):
    tree.write("root/scripts/a.sh", "# A.\n")
    (tree.folder / "root/tools").symlink_to(tree.folder / "root/scripts")
    assert tree.ids(script_dirs=("scripts", "tools")) == ["script:scripts-a-sh", "script:tools-a-sh"]
