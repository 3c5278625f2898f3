"""Which messages are asked in their context, and what the context is."""

from __future__ import annotations

import pytest

from hermes_lance.search.enrich import LONGEST_CHARS, enriched, needs_more, user_messages
from hermes_lance.search.render import BLOCK_NOTE

EARLIER = "tell me about the nightly database backups"


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


@pytest.mark.parametrize(
    "message",
    [
        "and the second one?",
        "what about the rollback plan?",
        "where does it store its log files on this machine",
        "und wo liegen die Protokolle davon auf dem Rechner?",
        "et comment est-ce que je peux les restaurer avec elles",
        "¿dónde guarda el servidor los registros de eso?",
        "а где хранятся резервные копии этого сервера",
        "これはどこに保存されていますか、教えてください",
        "那个备份保存在哪里呢，请告诉我吧",
        "أين يتم تخزين هذه النسخ على الخادم",
        "यह फ़ाइल सर्वर पर कहाँ रखी जाती है",
        "bu yedekler sunucuda nerede tutuluyor acaba",
        "数据库备份",
    ],
)
def test_a_short_or_pointing_message_is_asked_in_its_context(message):
    assert enriched(message, [EARLIER]) == f"{message}\n{EARLIER}"


@pytest.mark.parametrize(
    "message",
    [
        "how do I restore the production database from yesterday's snapshot",
        "Wie stelle ich die Datenbank aus der Sicherung von gestern wieder her?",
        "Comment restaurer la base de données à partir de la sauvegarde nocturne ?",
        "如何从昨天的快照恢复生产数据库的全部内容",
        "restore_from_snapshot",
    ],
)
def test_a_message_that_stands_by_itself_stays_alone(message):
    assert enriched(message, [EARLIER]) == message


def test_the_newest_three_messages_follow_newest_first():
    history = said("first subject", "second subject", "third subject", "fourth subject")
    assert enriched("and it?", history) == "and it?\nfourth subject\nthird subject\nsecond subject"


def test_only_the_person_is_quoted():
    history = [*said("nightly backups"), {"role": "assistant", "content": "They run at two."}, {"role": "tool"}]
    assert enriched("and it?", history) == "and it?\nnightly backups"


def test_the_text_of_lists_of_parts_counts_and_the_rest_of_them_does_not():
    parts = [{"type": "text", "text": "nightly"}, {"type": "image_url", "image_url": {}}, "backups", 7, None]
    assert list(user_messages([{"role": "user", "content": parts}])) == ["nightly\nbackups"]


@pytest.mark.parametrize("odd", [None, 7, {}, {"role": "user"}, {"role": "user", "content": None}, {"content": 3}])
def test_messages_of_other_shapes_are_passed_over(odd):
    assert enriched("and it?", [odd, "nightly backups", odd]) == "and it?\nnightly backups"


def test_the_current_message_is_not_doubled_when_the_history_holds_it():
    history = said("nightly backups", "And  it?")
    assert enriched("and it?", history) == "and it?\nnightly backups"


def test_thanks_and_the_like_take_no_place():
    history = said("nightly backups", "ok", "so what", "...")
    assert "nightly backups" in enriched("and it?", history)


def test_a_block_that_a_host_has_stored_with_a_message_is_no_part_of_it():
    history = said(f"nightly backups\n\n{BLOCK_NOTE}\n\n[Workspace source: a.md:1]\ncanary\n[End of workspace source]")
    assert enriched("and it?", history) == "and it?\nnightly backups"


def test_the_whole_question_is_cut_and_the_message_comes_first():
    made = enriched("and it?", said("word " * 400))
    assert made.startswith("and it?\nword ") and len(made) <= LONGEST_CHARS
    long = "does it " + "really " * 100 + "work"
    assert enriched(long, said("nightly backups")) == long


def test_a_message_without_words_needs_more_and_breaks_nothing():
    assert needs_more("?!") and enriched("  ", ["x y z"]) is not None


def test_of_a_long_earlier_message_no_more_is_read_than_can_be_used():
    (read,) = user_messages(said("canary " * 200_000))
    assert len(read) == LONGEST_CHARS
    long = "where does it go? " * 40
    assert enriched(long, said(EARLIER, long)).count("where") == long.count("where")
