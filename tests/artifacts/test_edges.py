"""Links: how references are resolved, and how few are derived."""

from __future__ import annotations

from hermes_lance.artifacts.edges import MOST_DERIVED, edges_between
from hermes_lance.core.artifact import Artifact


def made(key, path="", related=(), summary="", kind=None):
    return Artifact(key, kind or key.split(":")[0], key, path or f"{key}.md", summary=summary, related=tuple(related))


def word(number):
    """A word of letters for a number."""
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:04d}")


def links(*artifacts):
    return {
        (one.source_id, one.target_id): one.confidence for one in edges_between(artifacts) if one.kind == "related_to"
    }


def test_references_are_resolved_in_order_and_ambiguous_ones_to_nothing():
    scripts = [
        made("script:a", "scripts/ledger/run.sh"),
        made("script:b", "scripts/misc/run.sh"),
        made("script:c", "scripts/only.py"),
    ]
    skill = made("skill:deploy", "skills/deploy/SKILL.md")
    job = made(
        "cron:j",
        "cron/jobs.json#j",
        ["skill:deploy", "deploy", "/opt/x/scripts/ledger/run.sh", "misc/run.sh", "only.py", "run.sh", "no/such.md"],
        kind="cron_job",
    )
    assert links(*scripts, skill, job) == {
        ("cron:j", "skill:deploy"): 1.0,
        ("cron:j", "script:a"): 0.9,
        ("cron:j", "script:b"): 0.9,
        ("cron:j", "script:c"): 0.8,
    }


def test_nothing_is_linked_to_itself_or_to_what_is_not_there():
    assert links(made("skill:a", related=["skill:a", "skill:gone"])) == {}


def test_rare_words_in_common_suggest_a_link_and_common_ones_do_not():
    skill = made("skill:a", summary="Renew wildcard certificates with the registrar.")
    near = made("script:b", "b.sh", summary="Renew wildcard certificates.")
    far = made("script:c", "c.sh", summary="With the and of the.")
    (found,) = edges_between([skill, near, far])
    assert (found.source_id, found.target_id, found.kind) == ("skill:a", "script:b", "keyword_overlap")
    assert found.evidence.split() == sorted(found.evidence.split()) and 0 < found.confidence < 0.8


def test_the_number_of_derived_links_is_linear():
    many = [
        made(
            f"{kind}:{number}",
            summary=f"alpha beta gamma {word(number % 50)} x{word(number % 70)} y{word(number % 65)}",
        )
        for number in range(400)
        for kind in ("skill", "script")
    ]
    found = edges_between(many)
    for end in ("source_id", "target_id"):
        counts: dict[str, int] = {}
        for one in found:
            counts[getattr(one, end)] = counts.get(getattr(one, end), 0) + 1
        assert max(counts.values()) <= MOST_DERIVED
    assert found and edges_between(list(reversed(many))) == found
