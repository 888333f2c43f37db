"""`cite check`: raw JSON in, a gatekeeper_result out, a named field where the JSON is not of the form."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from agents.gate.document import BadDocument, check_document

DOCUMENT: dict[str, Any] = {
    "invocations": [
        {
            "id": 3,
            "run_id": "r1",
            "tool_name": "query_logs",
            "evidence_status": "supported",
            "truncated": False,
            "evidence_refs": [{"raw_path": "$.logs[0]", "text": "order-service request timed out after 30000ms"}],
        }
    ],
    "run_id": "r1",
    "claims": [
        {
            "claim_id": "c1",
            "claim_type": "symptom",
            "claim_text": "order-service timed out after 30 s",
            "support_level": "direct",
            "evidence_bindings": [
                {
                    "source_type": "tool_trace",
                    "source_invocation_id": 3,
                    "tool_name": "query_logs",
                    "raw_path": "$.logs[0]",
                    "evidence_excerpt": "request timed out after 30000ms",
                }
            ],
        }
    ],
}


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    place: Any = document
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = to
    return document


def test_a_claim_whose_name_is_quoted_too_passes() -> None:
    document = changed(
        "claims", 0, "evidence_bindings", 0, "evidence_excerpt", to="order-service request timed out after 30000ms"
    )
    assert check_document(document).passed_claim_ids == ("c1",)


def test_a_name_outside_the_quote_is_no_proof() -> None:
    result = check_document(DOCUMENT)
    assert (result.passed_claim_ids, result.failed_rules) == ((), ("name_not_in_evidence",))


def test_labels_of_the_stream_are_proof_of_a_name() -> None:
    document = changed("invocations", 0, "evidence_refs", 0, "scope", to={"service": "order-service"})
    assert check_document(document).passed_claim_ids == ("c1",)


def test_ids_may_be_text() -> None:
    document = changed("invocations", 0, "id", to="call-3")
    document["claims"][0]["evidence_bindings"][0]["source_invocation_id"] = "call-3"
    document["claims"][0]["claim_text"] = "The request timed out"
    assert check_document(document).passed_claim_ids == ("c1",)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "JSON object"),
        ({}, "invocations"),
        (changed("run_id", to=None), "run_id"),
        (changed("invocations", 0, "evidence_status", to="fine"), "invocations[0].evidence_status"),
        (changed("claims", 0, "evidence_bindings", to=[]), "claims[0].evidence_bindings"),
        (changed("claims", 0, "claim_type", to="guess"), "claims[0].claim_type"),
        (changed("claims", 0, "evidence_bindings", 0, "rawpath", to="x"), "claims[0].evidence_bindings[0].rawpath"),
        (changed("claims", to=DOCUMENT["claims"] * 2), "claims: the id 'c1'"),
        (changed("invocations", to=DOCUMENT["invocations"] * 2), "invocations: the id"),
    ],
)
def test_a_document_of_another_form_is_refused_with_the_field(document: object, said: str) -> None:
    with pytest.raises(BadDocument) as refused:
        check_document(document)
    assert said in str(refused.value)
