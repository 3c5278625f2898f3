"""The answers of `workspace setup`: given on the command line, asked for, or what is set already.

Only questions are here; nothing is written or sent. What a variable of the environment sets is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from hermes_lance.core import registry
from hermes_lance.core.errors import UNAVAILABLE, UsageError
from hermes_lance.hosts.cli.invocation import Invocation
from hermes_lance.hosts.cli.setup_choices import EMBEDDERS, MODES, PROPOSED_MODE, RERANKERS, with_others
from hermes_lance.hosts.output import wrapped

if TYPE_CHECKING:
    from hermes_lance.core.config import Config

KEYS: Mapping[str, str] = {
    "enabled": "knowledgebase.enabled",
    "mode": "knowledgebase.retrieval_mode",
    "embedder": "knowledgebase.embedders.active",
    "reranker": "knowledgebase.rerankers.active",
    "ocr": "knowledgebase.ocr",
}
"""What is asked, and the key that an answer sets."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What is to be set."""

    enabled: bool
    mode: str
    embedder: str
    reranker: str
    ocr: bool

    def config(self, config: Config) -> Config:
        """The configuration that these answers make."""

        def options(asked: str, present: str, mine: Mapping[str, Any], blocks: Mapping[str, Any]) -> Mapping[str, Any]:
            return mine if asked == present else blocks.get(asked, {})

        return replace(
            config,
            enabled=self.enabled,
            retrieval_mode=self.mode,
            ocr=self.ocr,
            embedder=self.embedder,
            embedder_options=options(self.embedder, config.embedder, config.embedder_options, config.embedder_blocks),
            reranker=self.reranker,
            reranker_options=options(self.reranker, config.reranker, config.reranker_options, config.reranker_blocks),
        )


def proposed(config: Config, given: Mapping[str, Any]) -> Answers:
    """What was given on the command line, else what is set. `UsageError` for a name that there is not."""
    mode = config.retrieval_mode
    if KEYS["mode"] not in config.origins:
        mode = PROPOSED_MODE
    enabled = config.enabled and config.workspace.enabled
    present = Answers(enabled, mode, config.embedder, config.reranker, config.ocr)
    answers = replace(present, **{key: value for key, value in given.items() if value is not None})
    for category, name in (("embedders", answers.embedder), ("rerankers", answers.reranker)):
        _known(config, category, name)
    answers = replace(
        answers,
        embedder=registry.normal("embedders", answers.embedder),
        reranker=registry.normal("rerankers", answers.reranker),
    )
    if not answers.enabled:
        answers = replace(answers, mode=given.get("mode") or "off")
    for key, value in asdict(answers).items():
        variable = variable_of(config, key)
        if variable and given.get(key) is not None and value != getattr(present, key):
            raise UsageError(f"{variable} sets {KEYS[key]}, which counts more than config.yaml", hint="Unset it first.")
    return answers


def _known(config: Config, category: str, name: str) -> None:
    from hermes_lance.core import plugins

    try:
        plugins.find(category, name, config.home)
    except UNAVAILABLE as error:
        raise UsageError(str(error), hint=error.hint) from error


def variable_of(config: Config, key: str) -> str:
    """The variable of the environment that sets a key; empty where none does."""
    origin = config.origins.get(KEYS[key], "")
    return origin if origin.startswith("$") else ""


def asked(invocation: Invocation, config: Config, given: Mapping[str, Any]) -> Answers:
    """The same with a question for everything that was not given."""
    console = invocation.console
    answers = proposed(config, {key: value for key, value in given.items() if key != "mode"})
    console.paragraph("A few questions; Enter takes what is in brackets. Nothing is written before the last one.")
    if _open(invocation, config, "enabled", given):
        console.line()
        answers = replace(answers, enabled=click.confirm("Index your files?", default=answers.enabled))
    if not answers.enabled:
        return proposed(config, {**given, "enabled": False})
    answers = proposed(config, {**given, "enabled": True})
    if _open(invocation, config, "mode", given):
        words = "When does an agent get passages of your files? They are then read by the model that it uses."
        answers = replace(answers, mode=_one_of(invocation, words, "Mode", MODES, answers.mode))
    if _open(invocation, config, "embedder", given):
        tiers = with_others(EMBEDDERS, registry.names("embedders"), answers.embedder)
        words = "What turns text into vectors, so that it is found by meaning?"
        answers = replace(answers, embedder=_one_of(invocation, words, "Embedder", tiers, answers.embedder))
    if _open(invocation, config, "reranker", given):
        tiers = with_others(RERANKERS, registry.names("rerankers"), answers.reranker)
        words = "Does something order the best hits anew?"
        answers = replace(answers, reranker=_one_of(invocation, words, "Reranker", tiers, answers.reranker))
    if _open(invocation, config, "ocr", given):
        console.line()
        words = "Read the words of pictures and scanned pages (slow, extra `ocr`)?"
        answers = replace(answers, ocr=click.confirm(words, default=answers.ocr))
    return answers


def _open(invocation: Invocation, config: Config, key: str, given: Mapping[str, Any]) -> bool:
    """Whether there is anything to ask: nothing was given, and no variable says it anyway."""
    variable = variable_of(config, key)
    if variable:
        invocation.console.paragraph(f"{KEYS[key]} is set by {variable}.")
    return given.get(key) is None and not variable


def _one_of(invocation: Invocation, words: str, prompt: str, choices: Mapping[str, str], present: str) -> str:
    console = invocation.console
    console.line()
    console.paragraph(words)
    width = max(map(len, choices)) + 2
    for name, meaning in choices.items():
        first, *rest = wrapped(meaning, console.width - width - 2)
        console.line(f"  {name:<{width}}{first}")
        console.lines(" " * (width + 2) + line for line in rest)
    return str(click.prompt(prompt, default=present, type=click.Choice(list(choices)), show_choices=False))
