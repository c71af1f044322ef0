"""What a suite has for each row of a gate, before anything is asked."""

from collections.abc import Mapping

from unmask.gate.counted import counted
from unmask.gate.deterministic import can_have
from unmask.gate.gate_file import Gate, Row
from unmask.gate.needs import can_pass
from unmask.gate.planning import Available
from unmask.gate.scenario import Scenario, Suite


def available_for(suite: Suite, gate: Gate) -> Mapping[str, Available]:
    """Return by row how many clusters and scenarios can have its metric; the scoring may leave some of them out."""
    found: dict[str, Available] = {}
    for row in gate.rows:
        about = [scenario for scenario in suite.scenarios if _is_about(row, scenario)]
        found[row.name] = Available(clusters=len({scenario.cluster for scenario in about}), scenarios=len(about))
    return found


def hopeless(suite: Suite, gate: Gate, confidence: float) -> tuple[str, ...]:
    """Return a warning for each row that no answers at all could make pass with a suite."""
    available = available_for(suite, gate)
    return tuple(
        f"{row.name} can never pass with this suite, whatever the answers: {row.words} with "
        f"{counted(available[row.name].clusters, 'cluster')} in {counted(available[row.name].scenarios, 'scenario')}. "
        "unmask gate plan says how many it takes"
        for row in gate.rows
        if not can_pass(row, available[row.name].of(row), confidence)
    )


def _is_about(row: Row, scenario: Scenario) -> bool:
    return (not row.kinds or scenario.kind in row.kinds) and can_have(row.metric, scenario)
