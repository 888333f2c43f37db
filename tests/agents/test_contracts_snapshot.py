"""The JSON schema of every contract, as reviewed: a changed field shows in the diff."""

import json
from pathlib import Path

from golden import check_golden

import agents.contracts
from agents.contracts import schema_of
from tools.contracts import Contract

FOLDER = Path(__file__).parent / "golden" / "contracts"


def contracts() -> dict[str, type[Contract]]:
    found = vars(agents.contracts).values()
    return {one.__name__: one for one in found if isinstance(one, type) and issubclass(one, Contract) and one is not Contract}


def test_every_contract_has_the_reviewed_schema() -> None:
    for name, contract in contracts().items():
        check_golden(FOLDER / f"{name}.json", json.dumps(schema_of(contract), indent=1, ensure_ascii=False) + "\n")


def test_no_snapshot_outlives_its_contract() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(contracts())


def test_every_contract_refuses_unknown_fields() -> None:
    assert all(contract.model_config["extra"] == "forbid" for contract in contracts().values())
