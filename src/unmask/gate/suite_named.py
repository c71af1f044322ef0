"""A suite by what a command calls it: a file, or one that is made up on the spot."""

import re
from pathlib import Path

from unmask.gate.errors import SuiteError
from unmask.gate.generated import generated_suite
from unmask.gate.scenario import Suite
from unmask.gate.suite_files import read_suite, suite_text
from unmask.gate.world_files import write_world

SHIPPED = Path(__file__).parent / "suites"
SHIPPED_SUITES = ("example", "example-ko")
_GENERATED = re.compile(r"generated(?::(\d{1,18}))?")


def suite_named(name: str) -> Suite:
    """Return a suite.

    Args:
        name: a file; or the name of one in the package; or ``generated`` or ``generated:SEED`` for `generated_suite`.

    Raises:
        SuiteError: the file cannot be read or does not fit its worlds.
    """
    made = _GENERATED.fullmatch(name)
    if made is not None:
        return generated_suite(int(made[1] or 0))
    return read_suite(SHIPPED / f"{name}.yaml" if name in SHIPPED_SUITES else Path(name))


def write_suite(suite: Suite, path: Path) -> None:
    """Write a suite into a file, JSONL by its ending or else YAML, and its worlds into a folder beside it.

    Raises:
        SuiteError: something cannot be written.
    """
    worlds = f"{path.stem}-worlds"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for world_id, world in suite.worlds.items():
            write_world(world, path.parent / worlds / world_id)
        folders = [f"{worlds}/{world_id}" for world_id in suite.worlds]
        # The suite comes last: where it is, its worlds are there too.
        path.write_text(suite_text(suite, folders, lines=path.suffix == ".jsonl"), encoding="utf-8")
    except OSError as error:
        raise SuiteError(f"the suite cannot be written to {path}: {error.strerror}") from error
