"""Claims as people write them, English and Chinese, on real and typical records; each with a twin that lies a little.

Lines of ts-* services are from IntelligentDDS/Nezha (MIT, (c) 2023 IntelligentDDS), pod events from HolmesGPT fixtures
(Apache-2.0); the rest is written for this test in the usual forms.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.contracts import CheckedBinding
from agents.gate.document import check_document

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "natural_claims.jsonl").read_text(encoding="utf-8").splitlines()
]


def checked(row: dict[str, object], text: object) -> CheckedBinding:
    ref = {"raw_path": "$.logs[0]", "text": row["text"], "scope": row["scope"]}
    binding = {
        "source_invocation_id": 1,
        "tool_name": row["tool"],
        "raw_path": "$.logs[0]",
        "evidence_excerpt": row["excerpt"],
    }
    claim = {"claim_id": "c", "claim_type": row["type"], "claim_text": text, "support_level": "direct"}
    document = {
        "invocations": [
            {"id": 1, "run_id": "r", "tool_name": row["tool"], "evidence_status": "supported", "evidence_refs": [ref]}
        ],
        "run_id": "r",
        "claims": [claim | {"evidence_bindings": [binding]}],
    }
    return check_document(document).checked_bindings[0]


def test_the_set_is_large_and_in_both_languages() -> None:
    languages = [row["lang"] for row in ROWS]
    assert len(ROWS) >= 150
    assert min(languages.count("zh"), languages.count("en")) >= 25


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_natural_claim_passes(row: dict[str, object]) -> None:
    result = checked(row, row["claim"])
    assert result.outcome == "passed", f"{row['claim']}: {result.detail}"


@pytest.mark.parametrize("row", [row for row in ROWS if row["twin"]], ids=lambda row: row["id"])
def test_its_twin_with_a_changed_fact_is_rejected(row: dict[str, object]) -> None:
    result = checked(row, row["twin"])
    assert result.outcome == "rejected", row["twin"]
    assert result.rule in ("number_not_in_evidence", "name_not_in_evidence", "time_not_in_evidence"), result.detail
