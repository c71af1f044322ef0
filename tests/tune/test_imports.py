"""What tuning may need stays with tuning."""

import ast
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "unmask"


def imported(path: Path) -> set[str]:
    """Return the names of the packages that a source file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def test_only_tuning_uses_scikit_learn() -> None:
    """Everything else runs where it is not installed."""
    users = {path.relative_to(SRC).parts[0] for path in SRC.rglob("*.py") if "sklearn" in imported(path)}

    assert users == {"tune"}
