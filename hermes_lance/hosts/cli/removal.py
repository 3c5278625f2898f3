"""`hermes-lance forget` and `delete`: documents that leave the dataset because somebody says so."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from hermes_lance.core.errors import FileMissing, UsageError
from hermes_lance.hosts.cli.given import absolute, meant_here
from hermes_lance.hosts.cli.groups import Command
from hermes_lance.hosts.cli.interrupt import interruptible
from hermes_lance.hosts.cli.invocation import Invocation, pass_invocation
from hermes_lance.hosts.output import Console, amount, shown, size_words

if TYPE_CHECKING:
    from hermes_lance.ingest.forget import Dropped
    from hermes_lance.store.proof import Proof


@click.command("forget", cls=Command)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--purge", is_flag=True, help="Also remove its text from everything older, and prove that it is gone.")
@click.option("--undo", is_flag=True, help="Lift it: the next build reads the file again.")
@click.option("--list", "listing", is_flag=True, help="Show what is forgotten.")
@pass_invocation
def forget(invocation: Invocation, paths: tuple[str, ...], purge: bool, undo: bool, listing: bool) -> None:
    """Drop a document from the dataset for good; the file itself stays.

    PATH is a path as results show it, or an absolute path. Every later build, and `watch`, leaves the file out,
    whatever it holds by then, and any copy of its bytes too. A document that is no longer on the disk can be purged
    from older generations.
    """
    library = invocation.library()
    if listing:
        _list(invocation, [asdict(one) for one in library.forgotten()])
        return
    if not paths:
        raise UsageError("forget: no path was given", hint="Name a document, or see `hermes-lance forget --list`.")
    if undo and purge:
        raise UsageError("forget: --undo and --purge exclude each other", hint="What is purged cannot be brought back.")
    given = [absolute(path) for path in paths]
    if undo:
        lifted = library.lift(given, wait_seconds=invocation.wait)
        if invocation.json:
            invocation.document(lifted=lifted)
            return
        invocation.console.paragraph(f"No longer forgotten: {', '.join(map(shown, lifted))}")
        invocation.console.note("Run `hermes-lance build` to index it again.")
        return
    with interruptible(invocation):
        try:
            done = library.forget(given, purge=purge, wait_seconds=invocation.wait)
        except FileMissing as error:
            hint = next(filter(None, map(meant_here, paths)), error.hint)
            raise FileMissing(str(error), hint=hint) from error
    if invocation.json:
        proof = None if done.proof is None else asdict(done.proof)
        invocation.document(
            **_document(done),
            forgotten=done.paths,
            copies=done.copies,
            purged=purge,
            turns_removed=done.recorded,
            proof=proof,
        )
    elif not invocation.quiet:
        _print(invocation.console, done, purge=purge)


@click.command("delete", cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@pass_invocation
def delete(invocation: Invocation, paths: tuple[str, ...]) -> None:
    """Drop a document from the index until its file changes; the file itself stays.

    PATH is a path as results show it, or an absolute path. `forget` drops one for good.
    """
    done = invocation.library().drop([absolute(path) for path in paths], wait_seconds=invocation.wait)
    if invocation.json:
        invocation.document(**_document(done), deleted=done.paths, returns="when the file changes")
    elif not invocation.quiet:
        names = ", ".join(map(shown, done.paths))
        invocation.console.paragraph(f"Dropped from the index: {names} ({amount(done.chunks, 'passage')}).")
        invocation.console.paragraph("It returns when the file changes; `hermes-lance forget` drops it for good.")


def _document(done: Dropped) -> dict[str, Any]:
    return {"generation": done.generation, "chunks_removed": done.chunks}


def _list(invocation: Invocation, rows: list[dict[str, Any]]) -> None:
    if invocation.json:
        keys = ("root", "at", "purge", "pending")
        invocation.document(forgotten=[{"path": row["shown"], **{key: row[key] for key in keys}} for row in rows])
        return
    if not rows:
        invocation.console.line("Nothing is forgotten.")
        return
    table = [[row["shown"], row["at"], "purged" if row["purge"] else ""] for row in rows]
    invocation.console.table(["file", "forgotten", ""], table, wrap=True)


def _print(console: Console, done: Dropped, *, purge: bool) -> None:
    names = ", ".join(map(shown, done.paths))
    console.paragraph(f"Forgotten: {names} ({amount(done.chunks, 'passage')}). The file on the disk is untouched.")
    if done.copies:
        console.paragraph(f"Files with the same contents went too: {', '.join(map(shown, done.copies))}")
    console.paragraph(
        "Later builds leave it out, whatever it holds, and copies of its bytes under any other path; "
        "`hermes-lance forget --undo` lifts that."
    )
    if done.recorded:
        console.paragraph(f"{amount(done.recorded, 'recorded turn')} that named it or quoted it went too.")
    if done.proof is not None:
        console.paragraph(proof_words(done.proof))
    elif not purge:
        console.paragraph("Its text is still in older generations, until they go; with --purge it is removed at once.")


def proof_words(proof: Proof) -> str:
    """What was opened after a purge, in words."""
    phrases = f"; {amount(proof.phrases, 'stretch', 'stretches')} of it looked for by bytes" if proof.phrases else ""
    return (
        "Purged, with every older generation. Opened: "
        f"{amount(proof.tables, 'table')} in {amount(proof.versions, 'version')} ({proof.rows:,} rows), "
        f"the Tantivy index ({proof.terms:,} terms), "
        f"{amount(proof.files, 'file')} ({size_words(proof.bytes)}){phrases}. Nothing of it is left."
    )
