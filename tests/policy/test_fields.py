"""Behaviour of `unmask.policy.fields`, and of the manual that is held to them."""

import re
from pathlib import Path

import pytest

from unmask.policy.fields import PolicyField, policy_fields

TEXT = (Path(__file__).parents[2] / "docs" / "policy.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("field", policy_fields(), ids=lambda field: field.path)
def test_field_is_described(field: PolicyField) -> None:
    """Each says what it is in sentences, what it may be, and what leaving it out means where that is allowed."""
    assert field.meaning.endswith(".")
    assert field.allowed
    assert field.required is not ("Left out: " in field.meaning or field.path.endswith("conditions"))


@pytest.mark.parametrize("field", policy_fields(), ids=lambda field: field.path)
def test_field_is_documented(field: PolicyField) -> None:
    """The manual's table says what the schema says."""
    assert f"| `{field.path}` | {field.allowed} | {field.meaning} |" in TEXT


def test_no_other_field_is_documented() -> None:
    """A field that is gone leaves the manual too; its order is that of the schema."""
    assert re.findall(r"(?m)^\| `([\w.]+)` \| .* \| .* \|$", TEXT) == [field.path for field in policy_fields()]
