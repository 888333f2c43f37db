"""The rule set: an id for each way a binding can fail, and what a person reads about it."""

from __future__ import annotations

RULESET_VERSION = "2026-11-30.2"

PASSED = "all_rules"

RULES = {
    PASSED: "the words stand in the record as quoted",
    "unknown_invocation": "no tool call with this id was made",
    "other_run": "the tool call belongs to another run",
    "wrong_tool": "the tool call was made by another tool",
    "path_mismatch": "the words do not stand at this path of the tool's answer",
    "failed_call": "the tool call failed, so it says nothing",
    "deduped_call": "the tool call repeated an earlier one; quote the earlier one",
    "no_evidence_as_proof": "an empty result proves only that the query returned nothing",
    "not_evidence": "answers of this tool are never evidence",
    "forbidden_characters": "the text holds characters that hide or reorder words",
    "information_floor": "the excerpt is too little to prove anything",
    "too_long": "the excerpt is longer than 1000 characters",
    "spliced_excerpt": "the excerpt joins pieces with an ellipsis; quote one contiguous piece",
    "not_found": "the excerpt does not stand in the record",
    "token_boundary": "the excerpt starts or ends inside a word or a number",
    "time_not_in_evidence": "a time of the claim is not in its quotes",
    "number_not_in_evidence": "a number of the claim is not in its quotes",
    "name_not_in_evidence": "a name of the claim is not in its quotes",
    "atomicity": "the claim says more than one thing",
    "cause_needs_more": "a cause needs two kinds of evidence",
    "duplicate_claim_id": "another claim has the same id",
    "empty_claim": "the claim has no words",
}
