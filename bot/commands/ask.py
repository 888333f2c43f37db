"""`proofthread ask`: a question in, an answer whose every claim carries a quote out."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.ended import show_end
from bot.commands.options import AsJson, ModelName


def register(app: typer.Typer) -> None:
    app.command("ask")(ask)


def ask(
    question: Annotated[str | None, typer.Argument(help="What you want to know; - reads stdin.", metavar="QUESTION")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Ask about the sample incident that ships with us.")] = False,
    session: Annotated[str | None, typer.Option("--session", help="Continue this conversation.", metavar="ID")] = None,
    model: ModelName = None,
    now: Annotated[str | None, typer.Option("--now", help="Ask as if it were then (RFC 3339).", metavar="TIME")] = None,
    zone: Annotated[str | None, typer.Option("--zone", help="Your time zone.", metavar="ZONE")] = None,
    language: Annotated[str | None, typer.Option("--language", help="zh or en.", metavar="LANGUAGE")] = None,
    resume: Annotated[str | None, typer.Option("--resume", help="Finish a run that was killed.", metavar="RUN")] = None,
    as_json: AsJson = False,
) -> None:
    """Diagnose. Progress appears on stderr as it happens, then the answer with its evidence."""
    from bot.commands.question import read_question
    from bot.inputs import zone_named
    from bot.settings import load_settings
    from bot.terminal.lines import Line, console_for, show

    if resume:
        if question or session or now:
            raise typer.BadParameter("--resume takes up a run with its own question, session and time: leave those out.")
        raise typer.Exit(_resumed(resume, sample, model, zone, as_json=as_json))
    typed = read_question(question, sample)
    if typed.reply is not None:
        _show_reply(typed.reply, as_json)
        return
    stderr = console_for(stream_is_stderr=True)
    if typed.remark:
        show(stderr, [Line(typed.remark, lead="! ", style="yellow")])
    loaded = load_settings()
    from bot.commands.asked import Wanted, answered

    wanted = Wanted(typed.text, sample, session, model, now, zone, language)
    shown_in = zone_named(zone) if zone else loaded.zone
    raise typer.Exit(show_end(answered(wanted, loaded, stderr), shown_in, as_json=as_json, sample=sample))


def _resumed(run_id: str, sample: bool, model: str | None, zone: str | None, *, as_json: bool) -> int:
    from bot.commands.asked import Wanted, resumed
    from bot.inputs import zone_named
    from bot.settings import load_settings
    from bot.terminal.lines import console_for

    loaded = load_settings()
    wanted = Wanted("", sample, None, model, None, zone, None)
    shown_in = zone_named(zone) if zone else loaded.zone
    run = resumed(run_id, wanted, loaded, console_for(stream_is_stderr=True))
    return show_end(run, shown_in, as_json=as_json, sample=sample)


def _show_reply(reply: str, as_json: bool) -> None:
    from bot.terminal.lines import Line, console_for, show
    from bot.terminal.output import print_json

    if as_json:
        print_json({"reply": reply})
    else:
        show(console_for(), [Line(reply)])
