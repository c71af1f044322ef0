"""Sizes and habits that linters do not check, over everything in `src`."""

import ast
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "unmask"
FILES = sorted(SRC.rglob("*.py"))
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 80
P95_FUNCTION_LINES = 40

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def tree(path: Path) -> ast.Module:
    """Return the syntax tree of one source file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions() -> Iterator[tuple[str, int]]:
    """Yield where every function is and how many lines it has."""
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, FunctionNode):
                yield f"{path.relative_to(SRC)}:{node.lineno} {node.name}", (node.end_lineno or 0) - node.lineno + 1


def public_definitions(scope: ast.Module | ast.ClassDef) -> Iterator[FunctionNode | ast.ClassDef]:
    """Yield public classes and functions of a scope, and of the classes in it."""
    for node in scope.body:
        if isinstance(node, FunctionNode | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node)


def is_restated(node: FunctionNode | ast.ClassDef) -> bool:
    """Tell whether a definition repeats one that holds the docstring: an overload, override or setter."""
    names = {ast.unparse(decorator).rsplit(".", 1)[-1] for decorator in node.decorator_list}
    return bool(names & {"overload", "override", "setter"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_file_fits(path: Path) -> None:
    """A file has at most 400 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES


def test_no_function_is_long() -> None:
    """No function has more than 80 lines."""
    assert [(name, lines) for name, lines in functions() if lines > MAX_FUNCTION_LINES] == []


def test_most_functions_are_short() -> None:
    """Nineteen functions in twenty have at most 40 lines."""
    by_size = sorted(functions(), key=lambda found: found[1])
    rank = math.ceil(0.95 * len(by_size)) - 1

    assert by_size[rank][1] <= P95_FUNCTION_LINES, by_size[rank:]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_no_global_statement(path: Path) -> None:
    """Nothing rebinds a module's names from inside a function."""
    assert [node.lineno for node in ast.walk(tree(path)) if isinstance(node, ast.Global)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_public_names_are_documented(path: Path) -> None:
    """Every module, public class and public function has a docstring."""
    module = tree(path)
    bare = [
        f"{node.name}:{node.lineno}"
        for node in public_definitions(module)
        if not is_restated(node) and ast.get_docstring(node) is None
    ]

    assert bare == []
    assert ast.get_docstring(module)
