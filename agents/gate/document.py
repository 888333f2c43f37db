"""The Gatekeeper as a tool of its own: raw JSON in, a GatekeeperResult out (`proofthread cite check`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import ValidationError

from agents.contracts import Claim, GatekeeperResult, InvocationEvidence
from agents.gate.check import check_claims
from tools.contracts import Contract


class BadDocument(ValueError):
    """The document is not of the form that `cite check` takes; the message names the field."""


class CiteDocument(Contract):
    """`claims` are those of executor_evidence_v2."""

    invocations: tuple[InvocationEvidence, ...]
    run_id: str
    claims: tuple[Claim, ...]


def check_document(document: object) -> GatekeeperResult:
    """Check the claims of one document as the pipeline would. Raises BadDocument."""
    if not isinstance(document, dict):
        raise BadDocument('expected one JSON object with the keys "invocations", "run_id" and "claims"')
    try:
        parsed = CiteDocument.model_validate(document)
    except ValidationError as error:
        raise BadDocument(_first_problem(error)) from error
    _refuse_repeated("invocations", ((one.run_id, str(one.id)) for one in parsed.invocations))
    _refuse_repeated("claims", (one.claim_id for one in parsed.claims))
    return check_claims(parsed.claims, parsed.invocations, parsed.run_id).result


def _first_problem(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{_path(first['loc'])}: {first['msg']}{more}"


def _path(location: Iterable[int | str]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path or "document"


def _refuse_repeated(field: str, keys: Iterable[object]) -> None:
    repeated = [key for key, times in Counter(keys).items() if times > 1]
    if repeated:
        raise BadDocument(f"{field}: the id {repeated[0]!r} is used more than once")
