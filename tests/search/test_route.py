"""What the router puts first, and what it leaves out."""

from __future__ import annotations

import pytest

from hermes_lance.core.artifact import Artifact, Edge
from hermes_lance.search.route import route
from hermes_lance.search.route_query import analysed
from hermes_lance.store.catch_up import catch_up
from hermes_lance.store.publish import Facts, Publication
from hermes_lance.store.snapshot import open_snapshot
from hermes_lance.store.spaces import first, space_of
from hermes_lance.store.tables import Tables

SPACE = first(space_of("word_count", "word_count/1", 64))


def made(key, summary="", **more):
    kind = {"cron": "cron_job", "mcp": "mcp_server"}.get(key.split(":")[0], key.split(":")[0])
    name = key.split(":")[1]
    return Artifact(key, kind, more.pop("title", name), more.pop("path", f"{name}.md"), summary, **more)


@pytest.fixture
def ask(tmp_path):
    """Publishes artifacts and gives a function from a question to the ids of its page."""

    def publish(*artifacts):
        work = Publication(tmp_path, Tables(tmp_path), None, "run", Facts(space=SPACE))
        edges = [
            Edge(one.id, target, "related_to", "directed", 1.0, target) for one in artifacts for target in one.related
        ]
        work.put_artifacts(artifacts, edges)
        catch_up(tmp_path, work.tables, work.commit(), work.changes)
        snapshot = open_snapshot(tmp_path)

        def ids(query, limit=8, kind=None, offset=0):
            return [one.artifact.id for one in route(query, snapshot, limit=limit, kind=kind, offset=offset).rows]

        return ids

    return publish


def test_what_is_called_so_comes_before_what_says_it_more_often(ask):
    ids = ask(
        made("runbook:all-about-invoices", "Invoice intake, invoice intake, invoice intake and more invoice intake."),
        made("skill:invoice-intake", "Review what suppliers send."),
    )
    for query in ("invoice intake", "Invoice-Intake", "invoiceintake", "invoice_intake"):
        assert ids(query)[0] == "skill:invoice-intake", query


def test_a_kind_that_is_asked_for_is_found_behind_hundreds_that_match_better(ask):
    prose = [made(f"runbook:zone-{number}", "Zone transfer, zone transfer, zone.") for number in range(330)]
    ids = ask(*prose, made("cron:nightly", "Check the zone."), made("script:zone-tool", "Zone.", path="zone.sh"))
    assert ids("zone cron job")[0] == "cron:nightly"
    assert ids("zone script")[0] == "script:zone-tool"
    assert ids("zone", kind="cron_job") == ["cron:nightly"], "a filter applies before the cut"


def test_a_name_enters_a_page_that_hundreds_of_others_fill(ask):
    prose = [made(f"doc:note-{number}", "Harbour crane schedule, harbour crane schedule.") for number in range(330)]
    ids = ask(*prose, made("script:crane-schedule", "Nothing.", path="harbour/crane-schedule.sh"))
    assert ids("harbour crane schedule")[0] == "script:crane-schedule"


def test_a_quoted_phrase_is_strict_alone_and_first_with_other_words(ask):
    ids = ask(
        made("doc:a", search_text="There was no answer for two days."),
        made("doc:b", search_text="For two days there was an answer, no less; github reminder."),
    )
    assert ids('"no answer for two days"') == ["doc:a"]
    assert ids("'two days answer'") == []
    assert ids('github reminder "no answer for two days"') == ["doc:a", "doc:b"]
    assert ids("don't answer") == ["doc:a", "doc:b"] or ids("don't answer") == ["doc:b", "doc:a"]


def test_the_skill_comes_right_before_its_document_and_one_document_of_it_is_enough(ask):
    ids = ask(
        made("skill:photos", "Copy pictures."),
        made("skill_support_doc:heic", "Converting heic files.", related=("skill:photos",)),
        made("skill_support_doc:heic-more", "More on heic files.", related=("skill:photos",)),
    )
    page = ids("heic")
    assert page[0] == "skill:photos" and len(page) == 2
    assert len(ids("heic", kind="skill_support_doc")) == 2, "with a filter nothing is lifted or dropped"


def test_misspelt_words_beginnings_and_other_scripts_are_understood(ask):
    ids = ask(
        made("skill:certificate-renewal", "Renew certificates."),
        made("doc:backup", "Резервное копирование фотографий"),
        made("doc:night", "夜间值班安排"),
    )
    assert ids("certifcate renewl")[0] == "skill:certificate-renewal"
    assert ids("certif") == ["skill:certificate-renewal"]
    assert ids("копирование")[0] == "doc:backup" and ids("夜间") == ["doc:night"]


def test_an_exact_identifier_beats_what_shares_its_parts(ask):
    ids = ask(
        made("runbook:lantern-bridge", "The port of the lantern bridge."),
        made("script:run", "Starts things.", search_text="LANTERN_BRIDGE_PORT lantern bridge port"),
    )
    assert ids("LANTERN_BRIDGE_PORT")[0] == "script:run"


@pytest.mark.parametrize("query", ["", "   ", "what where which", "qzxv wjkp", "()*^~\"'", "\x00", "的" * 3])
def test_what_matches_nothing_gives_an_empty_page(ask, query):
    assert ask(made("skill:a", "Something."))(query) == []


def test_operators_are_inert_and_long_questions_are_answered(ask):
    ids = ask(made("skill:invoice", "Invoices."))
    for query in ('NEAR(invoice OR) AND * ^ "', "invoice -invoice +invoice title:invoice", "invoice " * 5_000):
        assert ids(query) == ["skill:invoice"]


def test_pages_follow_one_another_and_are_always_the_same(ask):
    ids = ask(*(made(f"skill:deploy-{number}", "Deploy it.") for number in range(25)))
    whole = ids("deploy", limit=25)
    assert len(set(whole)) == 25
    assert [one for at in (0, 10, 20) for one in ids("deploy", limit=10, offset=at)] == whole
    assert ids("deploy", limit=25) == whole


def test_an_unknown_kind_finds_nothing(ask):
    assert ask(made("skill:a", "Deploy."))("deploy", kind="no_such_kind") == []


def test_kinds_are_asked_for_by_words_outside_of_quotes():
    assert analysed("zone cron job").kinds == {"cron_job"}
    assert analysed("zone mcp").kinds == {"mcp_server", "script"}
    assert analysed('"zone" cron').kinds == frozenset()
    assert analysed("LEDGER_DSN run.sh").only_identifiers and not analysed("the ledger").only_identifiers


class Meanings:
    """An embedder for which a text means what one of three subjects is about."""

    SUBJECTS = (("water", "garden", "tomato"), ("photo", "picture", "image"), ("call", "meeting", "minutes"))

    def embed_query(self, text):
        import numpy as np

        vector = np.full(64, 0.01, dtype=np.float32)
        for at, words in enumerate(self.SUBJECTS):
            vector[at] += sum(word in text.lower() for word in words)
        return vector / np.linalg.norm(vector)


@pytest.fixture
def meant(tmp_path):
    """A snapshot of three skills with vectors, and a function from a question to its page."""
    import numpy as np

    model = Meanings()
    artifacts = [
        made("skill:garden-irrigation", "Adjust valves by soil moisture.", embed_keys=("0" * 31 + "1",)),
        made("skill:photo-archive", "Copy what the phone has taken.", embed_keys=("0" * 31 + "2",)),
        made("skill:minutes", "Turn a recording into decisions.", embed_keys=("0" * 31 + "3",)),
    ]
    rows = sorted(artifacts, key=lambda one: one.id)
    matrix = np.stack([model.embed_query(f"{one.title} {one.summary}") for one in rows]).astype(np.float16)
    work = Publication(tmp_path, Tables(tmp_path), None, "run", Facts(space=SPACE))
    work.put_artifacts(artifacts, [])
    work.store_vectors([one.embed_keys[0] for one in rows], matrix)
    work.put_artifact_vectors(artifacts, matrix)
    catch_up(tmp_path, work.tables, work.commit(), work.changes)
    snapshot = open_snapshot(tmp_path)

    def ids(query, kind=None, embedder=model):
        return [one.artifact.id for one in route(query, snapshot, kind=kind, embedder=embedder).rows]

    return ids


def test_what_shares_no_word_is_found_by_its_meaning(meant):
    assert meant("make the tomatoes less thirsty") == ["skill:garden-irrigation"]
    assert meant("make the tomatoes less thirsty", embedder=None) == []
    assert meant("the tomatoes", kind="skill") == ["skill:garden-irrigation"]
    assert meant("the tomatoes", kind="script") == []


def test_quotations_and_bare_names_are_never_answered_by_meaning(meant):
    assert meant('"the tomatoes"') == [] and meant("TOMATO_COUNT") == [] and meant("tomato.py") == []


def test_a_whole_question_in_quotes_is_a_question(meant):
    assert meant('"Which of my things can make the tomatoes a bit less thirsty?"') == ["skill:garden-irrigation"]


def test_what_is_near_to_nothing_gives_an_empty_page(meant):
    assert meant("zzqx wvut") == []
