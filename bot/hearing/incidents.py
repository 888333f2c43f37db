"""A person asks for an alert to be looked into, in its thread: also one that its channel had no budget for."""

from __future__ import annotations

from bot.desk import Desk
from bot.greetings import asks_to_triage
from bot.incidents.enrichment import enriched
from bot.incidents.intake import alerts_of
from bot.incidents.request import triage_request
from bot.jobs import new_run
from bot.slack.incoming import Incoming
from bot.slack.people import Person
from storage.incidents import Incident
from storage.jobs import Added, NewJob

# Slack waits for our word on the mention meanwhile.
ENRICH_SECONDS = 0.8


async def incident_meant(desk: Desk, message: Incoming) -> Incident | None:
    """The incident of this thread, where the message asks for nothing else."""
    if not message.thread_ts or message.has_files or not asks_to_triage(message.text):
        return None
    return await desk.db.call(desk.incidents.of_thread, message.team, message.channel, message.thread_ts)


async def is_under_way(desk: Desk, message: Incoming) -> bool:
    """Something else than what this message asked for waits or runs in its thread."""
    return any(job.ts != message.ts for job in await desk.db.call(desk.jobs.unfinished, message.thread))


async def triage_now(desk: Desk, message: Incoming, person: Person, incident: Incident) -> None:
    """One run, which this person has asked for and pays for. Raises RequestRefused and StorageError."""
    alerts = await desk.db.call(alerts_of, desk.incidents, incident.incident_id)
    firing = [alert for alert in alerts if alert.status != "resolved"]
    request = triage_request(
        await enriched(firing, desk.place.tools, desk.place.clock(), seconds=ENRICH_SECONDS) or alerts,
        session_id=message.thread.session_id,
        language=desk.language(person),
        zone=person.zone or desk.zone,
        now=(desk.clock or desk.place.clock)(),
        seconds=desk.settings.alert_max_seconds,
    )
    job = NewJob(
        key=message.key,
        run=new_run(request, desk.place),
        thread=message.thread,
        user_id=person.id,
        event_id=message.event_id or None,
        details={"trigger": "mention", "kind": message.kind, "user_team": person.team, "incident": incident.incident_id},
    )
    added = await desk.db.call(desk.jobs.add, job)
    if isinstance(added, Added):
        await desk.db.call(desk.sessions.addressed, message.thread.session_id, person.id, message.at)
        desk.wake(added.run_id)
