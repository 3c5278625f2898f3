"""The router's own cases: every one that words can decide."""

from __future__ import annotations

import pytest

import hermes_lance
from hermes_lance.learn import router_cases


@pytest.mark.reference
def test_every_case_of_the_contract_is_met(tmp_path, reference_data):
    file = reference_data.parent / "cases" / "router_cases.json"
    if not file.is_file():
        pytest.skip("the cases are not beside the reference data")
    cases = router_cases.load(file)
    library = hermes_lance.open(router_cases.write_files(cases, tmp_path))
    library.index_artifacts()

    def ask(query, limit, kind):
        return [one.artifact for one in library.route(query, limit=limit, kind=kind).rows]

    failed = list(router_cases.failures(cases, ask))
    assert [one for one in failed if one.tier == "contract"] == []
    assert router_cases.missing_edges(cases, list(library.snapshot().artifacts.edges())) == []


def test_a_broken_promise_is_noticed(tmp_path):
    """The measure itself, on a page that keeps none."""
    from hermes_lance.core.artifact import Artifact

    page = [Artifact("doc:a", "doc", "a", "a.md"), Artifact("skill_support_doc:b", "skill_support_doc", "b", "b.md")]
    expect = {
        "top1": ["doc:z"], "in_top3": ["doc:z"], "in_page": ["doc:a", "doc:z"], "absent": ["doc:a"], "empty": True,
        "only_type": "doc", "exact_set": ["doc:a"], "max_support_docs_per_skill": -1,
    }  # fmt: skip
    case = {"id": "x", "tier": "contract", "query": "q", "limit": 8, "expect": expect}
    (failed,) = router_cases.failures({"cases": [case]}, lambda query, limit, kind: page)
    assert set(failed.broken) == set(expect)
    case["expect"] = {"top1": ["doc:a"], "absent": ["doc:z"]}
    assert list(router_cases.failures({"cases": [case]}, lambda query, limit, kind: page)) == []
