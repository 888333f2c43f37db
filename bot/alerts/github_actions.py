"""GitHub Actions: a workflow's end, as the GitHub app and the usual notify actions post it. A deploy that went well is a change."""

from __future__ import annotations

import re

from bot.alert_reading.build import make_alert
from bot.alert_reading.markup import Link
from bot.alert_reading.parsed import ChangeNote, Reading, Sender
from bot.alert_reading.post import Post
from bot.alert_reading.said import Said, folded_key, headings, link_to, links_by_kind, links_of, said
from bot.alert_reading.words import status_of_colour

_RUN = re.compile(r"https?://[^/\s]+/(?P<repository>[^/\s]+/[^/\s]+)/actions/runs/\d+")
_REPOSITORY = re.compile(r"(?<![\w./-])([A-Za-z0-9][\w.-]{0,60}/[\w.-]{1,100})(?![\w/])")
_BRANCH = re.compile(r"\b(?:on(?: branch)?|branch:?)\s+`?([\w./-]{0,99}\w)`?(?=[\s,.)]|\Z)")
_WORKFLOW = re.compile(
    r"\bworkflow[:\s]+[*`\"“]*([^*`\"”\n]{1,100}?)[*`\"”]*(?:\s+(?:in|on|of|has|is|was|workflow|run|failed|failure|succeeded|passed|completed)\b|\Z)",
    re.IGNORECASE,
)
_ENDED = re.compile(
    r"\A(?:github actions:\s*)?([^:\n]{1,80}?)\s(?:has\s|was\s)?(?:failed|failure|succeeded|success|passed|cancell?ed|timed out)\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:fail(?:ed|ure|ing|s)?|timed[ _]out|timeout|broken|startup_failure|errored|error)\b", re.IGNORECASE
)
_PASSED = re.compile(r"\b(?:success(?:ful|fully)?|succeeded|passed|passing|fixed|recovered)\b", re.IGNORECASE)
_STOPPED = re.compile(r"\b(?:cancell?ed|skipped|started|in progress|queued|requested|waiting)\b", re.IGNORECASE)
_DEPLOY = re.compile(r"\b(?:deploy\w*|release[ds]?|rollout|rolled out|promot\w+|publish\w*)\b", re.IGNORECASE)
_PLAIN_LABELS = (
    "link to action run",
    "actions url",
    "workflow run",
    "source",
    "here",
    "details",
    "logs",
    "run",
    "see run",
    "action",
)


def _claims(post: Post) -> bool:
    speaks = post.said_by("github", "deploy", "build") or "workflow" in post.whole()[:1_000].casefold()
    return post.said_by("githubaction") or (speaks and _run_of(post) is not None)


def _read(post: Post) -> Reading | None:
    known, run = said(post), _run_of(post)
    outcome = _outcome(post, known)
    if outcome is None:
        return None
    if outcome == "stopped":
        return Reading(ignored_reason="a workflow that neither failed nor passed")
    name = _workflow(post, known, run)
    if outcome == "passed" and _DEPLOY.search(f"{name} {known.get('message', 'commit message')}"):
        return Reading(change=_change(post, known, run))
    alert = make_alert(
        SENDER.name,
        name,
        "resolved" if outcome == "passed" else "firing",
        labels=_labels(post, known, run, name),
        annotations=known.labels(
            message=("message", "commit message"), commit=("commit",), author=("author", "actor", "triggered by")
        ),
        links=links_by_kind(post, run.url if run else ""),
        raw=post.whole(),
    )
    return Reading((alert,))


def _run_of(post: Post) -> Link | None:
    return link_to(post, "/actions/runs/")


def _outcome(post: Post, known: Said) -> str | None:
    """A status field, then the words of the headings, then the colour: a name such as `failover` says nothing."""
    fields = [known.get("status", "result", "conclusion", "job status", "build status", "outcome")]
    for text in (*fields, *headings(post), known.get("message")):
        if _FAILED.search(text):
            return "failed"
        if _PASSED.search(text):
            return "passed"
        if _STOPPED.search(text):
            return "stopped"
    colours = [status_of_colour(part.color) for part in post.parts]
    return {"firing": "failed", "resolved": "passed"}.get(next((str(colour) for colour in colours if colour), ""))


def _workflow(post: Post, known: Said, run: Link | None) -> str | None:
    if named := known.get("workflow", "workflow name", "action"):
        return named
    label = run.label if run else ""
    if (
        label
        and folded_key(label) not in _PLAIN_LABELS
        and not label.casefold().startswith(("view", "open", "http", "#", "run #"))
    ):
        return label
    found = next(
        (match[1].strip() for line in headings(post) if (match := _WORKFLOW.search(line) or _ENDED.match(line))), None
    )
    return found or next((part.title for part in post.parts if part.title), None) or next(iter(headings(post)), None)


def _labels(post: Post, known: Said, run: Link | None, name: str | None) -> dict[str, str]:
    url = _RUN.search(run.url) if run else None
    body = post.whole()[:4_000]
    repository = known.get("repo", "repository") or (url["repository"] if url else None)
    if not repository:
        found = _REPOSITORY.search(body)
        repository = found[1] if found else ""
    ref = known.get("branch", "ref", "ref name")
    if not ref and (said_on := _BRANCH.search(body.replace("*", ""))):
        ref = said_on[1]
    branch = re.sub(r"\Arefs/(?:heads|tags)/", "", ref)
    found_labels = {"workflow": name or "", "repository": repository, "branch": branch}
    return {**found_labels, **known.labels(event=("event", "event name"), job=("job",), environment=("environment",))}


def _change(post: Post, known: Said, run: Link | None) -> ChangeNote:
    labels = _labels(post, known, run, None)
    return ChangeNote(
        kind="deploy",
        summary=next(iter(headings(post)), "") or "a deploy by GitHub Actions",
        service=labels.get("repository", "").rpartition("/")[2] or None,
        version=known.get("version", "tag", "release") or None,
        environment=known.get("environment") or None,
        author=known.get("author", "actor", "triggered by") or None,
        link=run.url if run else next((link.url for link in links_of(post)), None),
    )


SENDER = Sender(name="github-actions", claims=_claims, read=_read)
