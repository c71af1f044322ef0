"""What names a suite's content: the same for the same scenarios and worlds, from whatever file, in whatever order."""

from collections.abc import Iterable, Mapping
from hashlib import sha256

import orjson

from unmask.gate.scenario import Scenario
from unmask.gate.scenario_record import scenario_record
from unmask.knowledge.world import World


def suite_digest(scenarios: Iterable[Scenario], worlds: Mapping[str, World]) -> str:
    """Return a digest of scenarios, notes included, and of the worlds they are about."""
    digest = sha256()
    for scenario in sorted(scenarios, key=lambda one: one.id):
        digest.update(orjson.dumps(scenario_record(scenario), option=orjson.OPT_SORT_KEYS) + b"\n")
    for world_id in sorted(worlds):
        digest.update(f"{world_id} {worlds[world_id].digest}\n".encode())
    return digest.hexdigest()
