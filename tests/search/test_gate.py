"""The second look: decisions on a small workspace of our own, end to end with the bundled model and by words alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import hermes_lance
from hermes_lance.library import Library

FILES = {
    "docs/rollback.md": "# Rollback\n\nTo roll back the canary of the payment service run `deploy rollback --to"
    " previous`, then watch the error rate for ten minutes.\n",
    "docs/backup.md": "# Backup\n\nNightly backups of the Postgres cluster go to the cold storage bucket in Frankfurt"
    " and are kept for ninety days. Restore drills happen every quarter.\n",
    "docs/travel.md": "# Travel expenses\n\nHotels up to 140 euros a night are refunded. Hand in receipts within four"
    " weeks; the finance team pays with the next salary.\n",
    "notes/onboarding.md": "# Onboarding\n\nNew colleagues get a laptop, a badge and an account for the VPN on their"
    " first day. The buddy shows them the office.\n",
    "notes/sicherung.md": "# Datensicherung\n\nDie Sicherungen der Kundendatenbank werden jede Nacht verschlüsselt"
    " auf das Bandlaufwerk geschrieben und dort neunzig Tage aufbewahrt.\n",
    "notes/huigun.md": "# 数据库回滚\n\n如果新版本的支付服务出错，先暂停流量，"
    "然后用备份恢复数据库，最后通知值班工程师。\n",
    "notes/otpusk.md": "# Отпуск\n\nЗаявление на отпуск подаётся за две недели, его подписывает руководитель отдела,"
    " а бухгалтерия переводит отпускные за три дня.\n",
    "notes/kitchen.md": "# Kitchen\n\nThe coffee machine is descaled on Fridays. Please put your cups into the"
    " dishwasher.\n",
}
NEEDED = {
    "how do I roll back the canary?": "docs/rollback.md",
    "rollback steps for the payment service": "docs/rollback.md",
    "where do the nightly postgres backups go": "docs/backup.md",
    "what does a hotel room may cost on a business trip?": "docs/travel.md",
    "does a new colleague get a laptop?": "notes/onboarding.md",
    "Wie lange werden die Sicherungen der Kundendatenbank aufbewahrt?": "notes/sicherung.md",
    "支付服务出错了怎么恢复数据库？": "notes/huigun.md",
    "За сколько недель подаётся заявление на отпуск?": "notes/otpusk.md",
}
NOT_NEEDED = (
    "I shower every day", "the plane was late again", "update your profile picture now", "thanks", "tell me a joke",
    "what's the capital of Australia?", "I'm so tired", "who won the match last night?", "Erzähl mir einen Witz",
    "Mein Hund hat meinen Schuh gefressen", "Qui a peint la Joconde ?", "¿Quién pintó Las Meninas?", "给我讲个笑话",
    "Расскажи анекдот", "can you sing?",
)  # fmt: skip


def opened(folder: Path, settings: str = "") -> Library:
    (folder / "config.yaml").write_text(settings, encoding="utf-8")
    for name, text in FILES.items():
        path = folder / "workspace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    library = hermes_lance.open(folder)
    library.index()
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return opened(tmp_path_factory.mktemp("gate"))


@pytest.fixture(scope="module")
def by_words(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return opened(tmp_path_factory.mktemp("words"), "knowledgebase:\n  embedders:\n    active: builtin_hash\n")


@pytest.mark.parametrize(("message", "path"), NEEDED.items())
def test_a_question_that_a_file_answers_is_given_that_file(library, message, path):
    made = library.context(message, mode="gated")
    assert made.injected, made.reason
    assert path in [source.path for source in made.sources]


@pytest.mark.parametrize("message", NOT_NEEDED)
def test_talk_is_given_nothing(library, message):
    made = library.context(message, mode="gated")
    assert not made.injected and made.stage in {"gate", "evidence"}


def test_the_reason_can_be_understood(library):
    made = library.context("who won the match last night?", mode="gated")
    assert made.reason.startswith("no passage stands out: the best one has ") and "telling words" in made.reason
    notes = {entry.stage: entry.detail for entry in made.trace}
    assert notes["evidence"]["formula"] == "minilm" and notes["evidence"]["score"] < 0


def test_a_foreign_language_is_weighed_by_its_words(library):
    trace = library.context("За сколько недель подаётся заявление на отпуск?", mode="gated").trace
    detail = next(entry.detail for entry in trace if entry.stage == "evidence")
    # The ending of a word does not count: the file has the words in other forms too.
    assert detail["formula"] == "minilm foreign" and detail["held"] >= 4


def test_a_message_that_names_the_files_needs_no_evidence(library):
    assert library.context("anything about whales in my notes", mode="gated").injected
    assert not library.context("anything about whales", mode="gated").injected


def test_without_vectors_words_alone_decide(by_words):
    made = by_words.context("how do I roll back the canary?", mode="gated")
    assert made.injected and next(e for e in made.trace if e.stage == "evidence").detail["formula"] == "words"
    for message in ("the plane was late again", "tell me a joke", "Qui a peint la Joconde ?"):
        assert not by_words.context(message, mode="gated").injected


def test_the_level_of_evidence_can_be_configured(tmp_path):
    library = opened(tmp_path, "knowledgebase:\n  gate:\n    evidence: 50\n")
    assert library.context("how do I roll back the canary?", mode="gated").stage == "evidence"
    assert library.context("how do I roll back the canary?", mode="always").injected


def test_small_talk_stays_shut_in_the_middle_of_a_conversation(library):
    history = ["where do the nightly postgres backups go?"]
    assert not library.context("my head hurts", history, mode="gated").injected
    assert library.context("and how long are they kept?", history, mode="gated").injected
