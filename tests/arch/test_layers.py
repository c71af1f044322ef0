"""The import contracts of `pyproject.toml` name every module there is."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAY_REACH_TORCH = {"app", "bench", "cli", "cluster", "core", "engine", "local", "testing", "train"}


def modules() -> set[str]:
    """Return the names of the package's own modules and subpackages."""
    return {
        path.stem
        for path in (ROOT / "src" / "unmask").iterdir()
        if (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").is_file()
    }


def test_torch_contract_lists_every_other_module() -> None:
    """A new module is kept off torch until someone decides otherwise here."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (contract,) = (contract for contract in contracts if contract["type"] == "forbidden")
    listed = {name.removeprefix("unmask.") for name in contract["source_modules"]}

    assert listed == modules() - MAY_REACH_TORCH


def test_subpackages_are_packages() -> None:
    """A folder with Python files in it has an `__init__.py`, or the import contracts would not see it."""
    folders = {path.parent for path in (ROOT / "src" / "unmask").rglob("*.py")}

    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []
