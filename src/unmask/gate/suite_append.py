"""Adds a scenario to a suite's file, and leaves all else in it as its author wrote it."""

import textwrap
from pathlib import Path

import orjson
import yaml
from pydantic import ValidationError

from unmask.config.strict_yaml import dump_yaml, load_yaml
from unmask.gate.line_store import LineStore
from unmask.gate.lock import locked
from unmask.gate.review_errors import ReviewError
from unmask.gate.scenario import Scenario
from unmask.gate.scenario_record import scenario_record
from unmask.gate.suite_files import LINES, SCENARIOS
from unmask.gate.suite_schema import ScenarioDocument

_INDENTS = ("", "  ", "    ")
"""By how much people indent the items of a list."""


def scenario_of(path: Path, name: str) -> Scenario:
    """Return a scenario of a suite's file; its worlds are not looked at.

    Raises:
        ReviewError: the file is no suite, or has no such scenario.
        RunFolderError: it cannot be read.
    """
    for record in _records(path, _text(path)):
        if isinstance(record, dict) and record.get("id") == name:
            return _document(path, record).scenario()
    raise ReviewError(f"{path} has no scenario {name!r}: name with --suite the suite that the run asked", param="suite")


def append_scenario(path: Path, scenario: Scenario) -> None:
    """Add a scenario at the end of a suite's file, with all that stands there left as it is, comments included.

    Raises:
        ReviewError: the file is no suite, has a scenario of that name, or ends in something else than scenarios.
        ReviewStoreError: another process holds the file for too long.
        RunFolderError: it cannot be read or written.
    """
    record = scenario_record(scenario)
    _document(path, record)
    with locked(path.with_name(f".{path.name}.lock")):
        text = _text(path)
        if any(isinstance(one, dict) and one.get("id") == scenario.id for one in _records(path, text)):
            raise ReviewError(f"{path} has a scenario {scenario.id!r} already: give another name with --id", param="id")
        LineStore(str(path.parent)).write_text(path.name, _with(path, text, record))


def _with(path: Path, text: str, record: dict[str, object]) -> str:
    whole = text if not text or text.endswith("\n") else f"{text}\n"
    if path.suffix == LINES:
        return f"{whole}{orjson.dumps(record).decode()}\n"
    before = _loaded(path, text)
    scenarios = before[SCENARIOS]
    assert isinstance(scenarios, list)
    wanted = before | {SCENARIOS: [*scenarios, record]}
    if path.suffix == ".json":
        return orjson.dumps(wanted, option=orjson.OPT_INDENT_2).decode() + "\n"
    for indent in _INDENTS:
        added = whole + textwrap.indent(dump_yaml([record]), indent)
        try:
            if load_yaml(added) == wanted:
                return added
        except yaml.YAMLError:
            continue
    raise ReviewError(
        f"{path} does not end in its list of scenarios, one an item in lines of its own, so that none can be added "
        "there. Move the list to the end of the file"
    )


def _text(path: Path) -> str:
    text = LineStore(str(path.parent)).read_text(path.name)
    if text is None:
        raise ReviewError(f"there is no suite {path}: name one with its id, family, worlds and scenarios", param="to")
    return text


def _records(path: Path, text: str) -> list[object]:
    if path.suffix != LINES:
        found = _loaded(path, text)[SCENARIOS]
        assert isinstance(found, list)
        return found
    try:
        return [orjson.loads(line) for line in text.splitlines() if line.strip()][1:]
    except orjson.JSONDecodeError as error:
        raise ReviewError(f"{path} is no suite: {error}. `unmask gate suite {path}` says where") from error


def _loaded(path: Path, text: str) -> dict[str, object]:
    try:
        found = load_yaml(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise ReviewError(f"{path} is no suite: {error}. `unmask gate suite {path}` says where") from error
    if not isinstance(found, dict) or not isinstance(found.get(SCENARIOS), list):
        raise ReviewError(f"{path} is no suite, allowed: a mapping with id, family, worlds and a list of scenarios")
    return found


def _document(path: Path, record: dict[str, object]) -> ScenarioDocument:
    try:
        return ScenarioDocument.model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise ReviewError(f"{record.get('id')!r} of {path} is no scenario: {field}: {first['msg']}") from error
