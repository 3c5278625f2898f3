"""Jobs that the host runs by the clock, from `cron/jobs.json`. Who they report to is never read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hermes_lance.artifacts.naming import digest, display_path, entities_in, significant_words, slug
from hermes_lance.artifacts.safe import clean, impersonal, routable_paths, searchable, split_command
from hermes_lance.artifacts.sources import RUNTIME, Found, Sources
from hermes_lance.artifacts.walking import JOBS_CHARS
from hermes_lance.core.artifact import Artifact

SUMMARY_CHARS = 700
SHORTEST_SENTENCE = 20
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")


def collect(sources: Sources) -> Iterator[Found]:
    """One artifact for each job."""
    file = sources.home / "cron" / "jobs.json"
    if not file.is_file():
        return
    text = sources.walk(sources.home).read(file, JOBS_CHARS).text
    try:
        loaded = json.loads(text)
    except ValueError as error:
        sources.problems.append(f"{file}: not valid JSON ({error})")
        return
    jobs = loaded.get("jobs") if isinstance(loaded, dict) else loaded
    shown = display_path(file, sources.root)
    for job in jobs if isinstance(jobs, list) else []:
        if isinstance(job, dict) and (name := _text(job, "name") or _text(job, "id")):
            yield Found(_artifact(sources, job, clean(name, 200), shown), RUNTIME)


def _text(job: Mapping[str, Any], key: str) -> str:
    value = job.get(key)
    return value.strip() if isinstance(value, str) else ""


def _artifact(sources: Sources, job: Mapping[str, Any], name: str, shown: str) -> Artifact:
    prompt = impersonal(searchable(_text(job, "prompt")))
    skills = _skills(job)
    script = next(iter(split_command(_text(job, "script"))), "")
    schedule = _schedule(job)
    facts = {"schedule": schedule, "state": _text(job, "state"), "last run": _text(job, "last_status")}
    said = "; ".join(f"{key}: {value}" for key, value in facts.items() if value)
    task = _first_sentence(prompt) or (f"Runs {clean(script)}" if script else "")
    summary = clean(f"{task} ({said})" if task and said else task or said, SUMMARY_CHARS)
    related = [f"skill:{slug(skill)}" for skill in skills]
    related += [clean(script)] if script else []
    related += routable_paths(prompt)
    return Artifact(
        id=f"cron:{slug(name)}",
        type="cron_job",
        title=name,
        path=f"{shown}#{name}",
        summary=summary.strip(),
        triggers=significant_words(name.replace("_", " "), *skills, script, prompt),
        entities=entities_in(sources.settings.known_entities, name, prompt),
        related=tuple(dict.fromkeys(related)),
        source="hermes_cron_registry",
        updated_at=_text(job, "updated_at") or _text(job, "created_at") or None,
        search_text="\n".join([prompt, schedule, *skills, clean(script)]),
        content_sha=digest(name, prompt, schedule, script, *skills),
    )


def _first_sentence(prompt: str) -> str:
    """The first sentence of some length; a short one takes the next with it."""
    said = ""
    for sentence in _SENTENCE.split(" ".join(prompt.split())):
        said = f"{said} {sentence}".strip()
        if len(said) >= SHORTEST_SENTENCE:
            break
    return said


def _skills(job: Mapping[str, Any]) -> list[str]:
    named = job.get("skills")
    names = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    return list(dict.fromkeys([*names, *([_text(job, "skill")] if _text(job, "skill") else [])]))


def _schedule(job: Mapping[str, Any]) -> str:
    if shown := _text(job, "schedule_display"):
        return shown
    schedule = job.get("schedule")
    if isinstance(schedule, str):
        return schedule
    return (
        next((_text(schedule, key) for key in ("display", "expr") if _text(schedule, key)), "")
        if isinstance(schedule, dict)
        else ""
    )
