"""Lines of tasks files."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def line(number: int = 0, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any field of a line
    """Return an item whose question and answer are a number."""
    fields = {
        "id": f"항목-{number}",
        "task": "faq",
        "prompt": f"{number}의 다음 수는?",
        "check": {"number": {"value": number + 1}},
    }
    return {name: value for name, value in (fields | changes).items() if value is not None}


def write(path: Path, lines: Iterable[dict[str, Any]]) -> Path:
    """Write a tasks file."""
    path.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in lines), encoding="utf-8")
    return path
