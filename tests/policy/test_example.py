"""Behaviour of `unmask.policy.example`."""

import re

from unmask.policy.example import WIDTH, example_policy
from unmask.policy.fields import policy_fields
from unmask.policy.file import parse_policy


def test_example_loads() -> None:
    """It is a whole policy, which a reader may change field by field."""
    policy = parse_policy(example_policy().encode())

    assert [entry.task for entry in policy.tasks] == ["default", "latin"]
    assert not any(task.exit is not None and task.exit.enabled for task in policy.tasks)


def test_example_explains_every_field_once() -> None:
    """Meaning and what is allowed stand above each, within the width of a screen."""
    text = example_policy()
    comments = " ".join(re.sub(r"(?m)^ *# ?", "", text).split())

    for field in policy_fields():
        assert comments.count(f"{field.meaning} Allowed: {field.allowed}.") >= 1, field.path
    assert max(map(len, text.splitlines())) <= WIDTH + 2
