"""Parts of the gate bench made by hand: a small suite with its stages, and a desk for it."""

from dataclasses import replace

from tests.bench.small import TOKENIZER, small_model
from unmask.bench.bench import Bench
from unmask.bench.gate_asking import Desk, Setting, contexts_of
from unmask.bench.gate_bench import FIRST_SUITE
from unmask.bench.gate_journal import Arm, Key
from unmask.bench.gate_stages import Stage, ways
from unmask.clock import SystemClock
from unmask.control.sources import ActivePolicy
from unmask.gate.generated import generated_suite
from unmask.gate.scenario import Scenario, Suite
from unmask.types import Mode

BENCH = Bench(model=replace(small_model(), digest="0123456789abcdef"), tokenizer=TOKENIZER, clock=SystemClock())


def small_suite() -> Suite:
    """Return one world's scenarios."""
    return generated_suite(FIRST_SUITE, 1)


def make_setting(suite: Suite, policy: ActivePolicy | None = None) -> Setting:
    """Return what is asked of a suite in all stages."""
    return Setting(suite=suite, contexts=contexts_of(suite, ways(suite)), policy=policy)


def make_desk(policy: ActivePolicy | None = None) -> Desk:
    """Return a desk for the small suite."""
    return Desk(BENCH, make_setting(small_suite(), policy))


def make_key(scenario: Scenario, stage: Stage = Stage.COMPLETED, mode: Mode = Mode.DIFFUSION, seed: int = 0) -> Key:
    """Name a scenario in an arm."""
    return Key(scenario=scenario.id, arm=Arm(stage=stage, mode=mode), seed=seed)
