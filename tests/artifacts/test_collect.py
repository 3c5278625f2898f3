"""What is found where: each kind, its id, and what is left out."""

from __future__ import annotations

import json
import os
import shutil

from hermes_lance.core.artifact import TYPES


def write_one_of_each(tree, skill):
    skill("ops/deploy", "description: Put a release on the server.\nrelated_skills: [roll-back]")
    skill("roll-back", where="root/custom_skills")
    tree.write("home/skills/ops/deploy/references/ports.md", "# Ports\n\nWhich port serves what.\n")
    tree.write("root/custom_skills/roll-back/notes.md", "# Notes\n\nWhat went wrong.\n")
    tree.write("root/scripts/push.sh", "#!/bin/sh\n# Push the release.\n")
    tree.write("root/memory/people.md", "# People\n\nWho knows what.\n")
    tree.write("root/docs/outage.md", "# Outage\n\nWhat to do.\n")
    tree.write("root/app_shop.md", "# Shop\n\nThe shop application.\n")
    tree.write("root/plan.md", "# Plan\n\nFor the year.\n")
    tree.write("home/cron/jobs.json", json.dumps([{"name": "nightly push", "script": "push.sh"}, "no job"]))
    tree.write("home/config.yaml", "mcp_servers: {shelf: {command: npx, args: [shelf-server]}}\n")
    tree.write("state/okfs/tools/web.md", "---\ntool: web_fetch\nschema_hash: x\ntitle: Fetch a page\n---\n# Fetch\n")


def test_each_kind_has_its_ids(tree, skill):
    write_one_of_each(tree, skill)
    found = tree.collect()
    assert [one.id for one in found.artifacts] == [
        "cron:nightly-push",
        "doc:plan",
        "mcp:shelf",
        "memory_doc:memory-people",
        "runbook:app-shop",
        "runbook:docs-outage",
        "script:scripts-push-sh",
        "skill:deploy",
        "skill:roll-back",
        "skill_support_doc:custom-skills-roll-back-notes",
        "skill_support_doc:runtime-skills-deploy-references-ports",
        "tool_okf:web-fetch",
    ]
    assert {one.type for one in found.artifacts} == set(TYPES)
    assert found.problems == ()


def test_equal_sources_give_equal_rows_and_order_of_writing_does_not_count(tree, skill):
    write_one_of_each(tree, skill)
    before = tree.collect()
    kept = tree.folder / "kept"
    shutil.copytree(tree.folder / "root", kept)
    shutil.rmtree(tree.folder / "root")
    shutil.copytree(kept, tree.folder / "root")
    assert tree.collect() == before


def test_markdown_is_taken_only_where_it_is_wanted_and_support_files_of_installed_skills_always(tree, skill):
    write_one_of_each(tree, skill)
    kinds = {one.type for one in tree.collect(include_markdown_docs=False).artifacts}
    assert kinds == {"skill", "skill_support_doc", "script", "cron_job", "mcp_server", "tool_okf"}


def test_a_home_that_is_its_own_root_keeps_the_support_files_of_its_skills(tree, skill):
    write_one_of_each(tree, skill)
    found = tree.ids(source_root="", include_markdown_docs=True)
    assert "skill_support_doc:runtime-skills-deploy-references-ports" in found
    assert not [key for key in found if key.startswith("doc:skills")], "and takes none of them as documents"


def test_a_skill_of_the_source_tree_comes_before_its_link_in_the_home(tree, skill):
    skill("deploy", "description: From the tree.", where="root/custom_skills")
    (tree.folder / "home/skills").mkdir()
    (tree.folder / "home/skills/deploy").symlink_to(tree.folder / "root/custom_skills/deploy")
    (found,) = tree.collect().artifacts
    assert (found.id, found.source) == ("skill:deploy", "custom_skill_source")


def test_excluded_names_count_below_a_root_only(tree, skill):
    moved = tree.folder / "logs" / "tree"
    tree.write("root/docs/a.md", "# A\n")
    tree.write("root/logs/b.md", "# B\n")
    tree.write("root/docs/.archive/c.md", "# C\n")
    tree.write("root/mine/d.md", "# D\n")
    skill(".archive/old")
    moved.parent.mkdir()
    (tree.folder / "root").rename(moved)
    assert tree.ids(source_root=str(moved), exclude_dir_names=("mine",)) == ["runbook:docs-a"]


def test_links_lead_nowhere_outside_and_never_in_a_circle(tree):
    outside = tree.folder / "outside"
    tree.write("outside/secret.md", "# Secret\n")
    tree.write("root/docs/a.md", "# A\n")
    os.symlink(outside, tree.folder / "root/docs/away")
    os.symlink(outside / "secret.md", tree.folder / "root/docs/file.md")
    os.symlink(tree.folder / "root", tree.folder / "root/docs/round")
    assert tree.ids() == ["runbook:docs-a"]


def test_names_in_other_scripts_do_not_meet(tree, skill):
    for name in ("写真", "動画", "音楽"):
        skill(name)
    assert len([key for key in tree.ids() if key.startswith("skill:")]) == 3


def test_an_example_inside_a_skill_is_no_skill_and_a_disabled_one_is_left_out(tree, skill):
    skill("real")
    skill("idle")
    tree.write("home/skills/real/templates/demo/SKILL.md", "---\nname: demo\n---\n")
    tree.write("home/config.yaml", "skills: {disabled: [idle]}\n")
    assert [key for key in tree.ids() if key.startswith("skill:")] == ["skill:real"]


def test_what_cannot_be_read_is_told_and_the_rest_is_collected(tree, skill):
    skill("good")
    tree.write("home/cron/jobs.json", "{broken")
    tree.write("root/docs/bytes.md", b"# Bytes \xff\xfe\n\nmore\n")
    found = tree.collect()
    assert [one.id for one in found.artifacts] == ["runbook:docs-bytes", "skill:good"]
    assert len(found.problems) == 1 and "jobs.json" in found.problems[0]


def test_what_a_skill_instructs_is_not_searched(tree):
    tree.write("home/skills/a/SKILL.md", "---\nname: a\ndescription: Short.\n---\nNever touch the flamingo.\n")
    assert "flamingo" not in str(tree.one("skill:a"))


def test_volatile_fields_of_a_job_leave_its_content_alone(tree):
    job = {"name": "j", "prompt": "Do the thing that is to be done.", "last_status": "ok", "repeat": {"completed": 1}}
    tree.write("home/cron/jobs.json", json.dumps({"jobs": [job]}))
    before = tree.one("cron:j").content_sha
    later = {**job, "last_status": "error", "last_run_at": "2026-05-01", "next_run_at": "x", "repeat": {"completed": 2}}
    tree.write("home/cron/jobs.json", json.dumps({"jobs": [later], "updated_at": "2026-05-01"}))
    assert tree.one("cron:j").content_sha == before
    tree.write("home/cron/jobs.json", json.dumps({"jobs": [{**job, "prompt": "Do another thing altogether."}]}))
    assert tree.one("cron:j").content_sha != before


def test_when_not_to_use_a_tool_is_no_reason_to_find_it(tree):
    tree.write(
        "state/okfs/tools/w.md",
        "---\ntool: web\nschema_hash: x\ntitle: Read pages\naliases: [read an article]\n"
        "when_not_to_use: [tide tables]\nrelated_tools: [other]\n---\n# Read\n\nMentions a porcupine.\n",
    )
    found = tree.one("tool_okf:web")
    assert "tide" not in str(found) and "porcupine" not in str(found) and "read an article" in found.triggers
    assert found.related == ("tool_okf:other",)
