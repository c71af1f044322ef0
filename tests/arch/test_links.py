"""Relative links of the pages lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TARGET = re.compile(r"\]\(([^()\s]+)\)")


def links() -> list[tuple[Path, str]]:
    """Return every page with every link of it that stays in the repository."""
    return [
        (page, target)
        for page in PAGES
        for target in TARGET.findall(page.read_text(encoding="utf-8"))
        if not target.startswith(("#", "http://", "https://", "mailto:"))
    ]


def name_of(value: object) -> str:
    """Name a page by its place in the repository."""
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else str(value)


@pytest.mark.parametrize(("page", "target"), links(), ids=name_of)
def test_relative_link_leads_somewhere(page: Path, target: str) -> None:
    """The file that a link names is there."""
    assert (page.parent / target.partition("#")[0]).exists()
