"""A scenario as a suite's file has it: mappings and lists by the names of its fields."""

from typing import assert_never

from unmask.gate.scenario import (
    AdmitsUnknown,
    Check,
    Claim,
    CorrectsClaim,
    HasForm,
    KeepsManner,
    NamesEntities,
    Scenario,
    StatesFact,
    Turn,
)


def scenario_record(scenario: Scenario) -> dict[str, object]:
    """Return what the file of a suite says of a scenario; what is empty is left out."""
    record: dict[str, object] = {
        "id": scenario.id,
        "world": scenario.world,
        "language": scenario.language,
        "kind": scenario.kind.value,
        "speaker": scenario.speaker,
        "cluster": scenario.cluster,
        "turns": [_turn_record(turn) for turn in scenario.turns],
    }
    return record | ({"note": scenario.note} if scenario.note else {})


def _turn_record(turn: Turn) -> dict[str, object]:
    record: dict[str, object] = {
        "question": turn.question,
        "needed": list(turn.needed),
        "checks": [_check_record(check) for check in turn.checks],
    }
    return record | ({"forbidden": [_claim_record(claim) for claim in turn.forbidden]} if turn.forbidden else {})


def _claim_record(claim: Claim) -> dict[str, str]:
    return {"subject": claim.subject, "slot": claim.slot, "value": claim.value}


def _check_record(check: Check) -> dict[str, object]:
    match check:
        case StatesFact():
            return {"states": check.statement}
        case CorrectsClaim():
            return {"corrects": check.misconception}
        case AdmitsUnknown():
            return {"admits": {"subject": check.subject, "slot": check.slot}}
        case NamesEntities():
            return {"names": list(check.entities)}
        case KeepsManner():
            return {"manner": check.persona}
        case HasForm():
            form = {"most_characters": check.most_characters, "pattern": check.pattern}
            return {"form": {name: value for name, value in form.items() if value is not None}}
        case _:
            assert_never(check)
