"""Planted texts through a real index: is the passage marked that holds the attack, and only that one?"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import hermes_lance
from injection_lib.counts import Tally
from injection_lib.texts import Case

_CONFIG = "knowledgebase:\n  embedders: {active: builtin_hash}\n"
_PAGE = "The committee met again in spring, looked at the accounts and found them in order. " * 60
SEED = 7


def counted(cases: list[Case], most: int) -> dict[tuple[str, ...], Tally]:
    """Of files that hold an attack between two pages of plain text: passages that touch it, and all others."""
    drawn = random.Random(SEED).sample(cases, min(most, len(cases)))
    holding, others = Tally(), Tally()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "workspace").mkdir()
        (home / "config.yaml").write_text(_CONFIG, encoding="utf-8")
        lead = f"{_PAGE}\n\n"
        for number, case in enumerate(drawn):
            text = f"{lead}{case.text}\n\n{_PAGE}\n"
            (home / "workspace" / f"{number}.txt").write_bytes(text.encode("utf-8", "surrogatepass"))
        library = hermes_lance.open(home)
        library.index(embed=False)
        rows = library.export("chunks").select(["path", "char_start", "char_end", "flags"]).to_pylist()
    touched = dict.fromkeys(range(len(drawn)), False)
    for row in rows:
        number = int(Path(row["path"]).stem)
        case = drawn[number]
        marked = any(flag.startswith("suspect:") for flag in row["flags"])
        if row["char_start"] < len(lead) + case.end and row["char_end"] > len(lead) + case.start:
            touched[number] = touched[number] or marked
        else:
            others.add(marked)
    for marked in touched.values():
        holding.add(marked)
    return {("files whose attack is marked",): holding, ("passages without attack that are marked",): others}
