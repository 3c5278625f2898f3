"""Planted secrets reach no field of any artifact. They are put together here, so that no file holds one."""

from __future__ import annotations

import json

import pytest

from hermes_lance.artifacts.safe import command_words, host, program, routable_paths


def planted(number: int) -> str:
    """A value that looks like a credential and occurs nowhere else."""
    return "Zq" + "7Kp" * 3 + f"w{number:02d}" + "Xv9" * 3


def test_no_planted_value_is_kept(tree, skill):
    secret = [planted(number) for number in range(24)]
    tree.write(
        "home/config.yaml",
        json.dumps(
            {
                "mcp_servers": {
                    "one": {
                        "command": f"npx shelf --token {secret[0]}",
                        "args": [
                            "-k",
                            secret[1],
                            "Bearer",
                            secret[2],
                            f"--api-key={secret[3]}",
                            {"password": secret[4]},
                        ],
                        "env": {"SHELF_TOKEN": secret[5]},
                        "headers": {"Authorization": f"Bearer {secret[6]}"},
                    },
                    "two": {
                        "url": f"https://user:{secret[7]}@shelf.example/{secret[8]}/sse?token={secret[9]}#{secret[10]}"
                    },
                    "three": {"command": f"API_KEY={secret[11]} /opt/run.sh", "args": ["--", secret[12]]},
                }
            }
        ),
    )
    jobs = [
        {
            "name": "a",
            "prompt": f"Log in with password={secret[13]} and report. Then stop.",
            "deliver": "chat:4455667788",
        },
        {
            "name": "b",
            "prompt": "Say hello.",
            "script": f"run.sh --token {secret[14]}",
            "origin": {"chat_id": "99887766"},
        },
        {"name": "c", "prompt": "Write to anna@example.org or +49 170 1234567."},
    ]
    tree.write("home/cron/jobs.json", json.dumps({"jobs": jobs}))
    skill("s", f"description: Use api_key {secret[15]} here.\ntags: ['{secret[16]}']")
    tree.write(f"home/skills/s/references/{secret[17]}.md", f"# Note\n\napi_key: {secret[18]}\n")
    tree.write("root/docs/a.md", f"# Setup\n\nAuthorization: Bearer {secret[19]}\n\nsecret = '{secret[20]}'\n")
    tree.write("root/scripts/a.sh", f"#!/bin/sh\n# Needs token {secret[21]}.\nexport A_TOKEN={secret[22]}\n")
    tree.write(
        "state/okfs/t.md", f"---\ntool: t\nschema_hash: {secret[23]}\ntitle: T\naliases: ['token={secret[23]}']\n---\n"
    )
    found = tree.collect()
    assert len(found.artifacts) == 11
    kept = json.dumps(
        [[str(one) for one in found.artifacts], [str(one) for one in found.edges], found.problems]
    ).lower()
    assert [number for number, value in enumerate(secret) if value.lower() in kept] == []
    for personal in ("4455667788", "99887766", "anna@example.org", "1234567"):
        assert personal not in kept


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["npx", "-y", "@scope/shelf", "--port", "9"], ["shelf", "--port"]),
        (["python3", "-m", "shelf_server", "--root", "/data"], ["shelf_server", "--root"]),
        (["shelf-server", "hunter", "--quiet"], ["--quiet"]),
        (["docker", "run", "shelf:1.2"], []),
        ([None, 3, {"a": 1}], []),
        ([], []),
    ],
)
def test_of_a_command_only_names_are_kept(words, kept):
    assert list(command_words(words)) == kept


def test_of_an_address_only_its_host_is_kept():
    assert host("https://me:word@shelf.example:8443/a/b?c=d") == "https://shelf.example"
    assert host("nonsense") == host("http://[broken") == host("file:///etc/passwd") == ""


def test_the_program_is_named_without_its_folder():
    assert program("/opt/tools/run.sh --now") == "run.sh"
    assert program("TOKEN=abc run") == "run"
    assert program("") == ""


def test_paths_of_scripts_and_documents_are_references_and_addresses_are_not():
    text = "Run ~/tools/a.py, then /opt/b/run.sh; see https://x.example/c.py and /etc/hosts and C:\\d\\e.md."
    assert routable_paths(text) == ("~/tools/a.py", "/opt/b/run.sh", "C:\\d\\e.md")
