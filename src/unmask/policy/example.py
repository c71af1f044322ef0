"""A policy file to start from, with what each field means beside it."""

import textwrap

from unmask.config.strict_yaml import dump_yaml
from unmask.policy.fields import PLACEHOLDERS, policy_fields
from unmask.policy.file import checked_document
from unmask.policy.policy import (
    DEFAULT_TASK,
    AtCap,
    BucketSteps,
    BudgetMode,
    ClassPolicy,
    ControlPolicy,
    ExitPolicy,
    Policy,
    PrecisionPolicy,
    Preference,
    SearchPolicy,
    TaskPolicy,
)
from unmask.service import SearchMethod
from unmask.strategy import StrategyChoice, StrategyName
from unmask.types import Bucket, ExitCondition, ExitRule, LearnedExit, Precision, ProgressSignal

WIDTH = 100
_DIGEST = "0123456789abcdef"
_PRECISION = PrecisionPolicy(
    service_class="batch", normal=Precision.BFLOAT16, low=Precision.INT8, high=Precision.FLOAT32
)


def example_policy() -> str:
    """Return a policy file that shows every field once and loads; its figures are invented, not measured."""
    head = (
        "# A budget policy with every field. Its figures are invented to show the form: take those of a policy from "
        "measured curves."
    )
    explained: set[str] = set()
    lines = ["\n".join(textwrap.wrap(head, WIDTH, subsequent_indent="# "))]
    path: list[str] = []
    for line in dump_yaml(checked_document(_example()).model_dump(mode="json", exclude_none=True)).splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        path = [*path[:depth], line.strip().split(":")[0]]
        field = _template(path)
        if field in _MEANINGS and field not in explained:
            explained.add(field)
            indent = "  " * depth
            lines.extend(f"{indent}# {said}" for said in textwrap.wrap(_MEANINGS[field], WIDTH - len(indent)))
        lines.append(line)
    return "\n".join(lines) + "\n"


_MEANINGS = {field.path: f"{field.meaning} Allowed: {field.allowed}." for field in policy_fields()}


def _template(path: list[str]) -> str:
    """Put the placeholder into a path for the name of an entry."""
    return ".".join(PLACEHOLDERS.get(before, part) for before, part in zip(["", *path], path, strict=False))


def _observed() -> ExitPolicy:
    return ExitPolicy(
        rule=ExitRule(
            conditions=(
                ExitCondition(signal=ProgressSignal.FLIPS, bound=0.0),
                ExitCondition(signal=ProgressSignal.CONFIDENCE_P10, bound=0.9),
            ),
            learned=LearnedExit(
                version=_DIGEST,
                bias=-2.0,
                weights=((ProgressSignal.KL, -4.0), (ProgressSignal.CONFIDENCE_MEAN, 6.0)),
                threshold=0.98,
            ),
            patience=2,
            min_steps=2,
        ),
        enabled=False,
        misjudgement_limit=0.01,
    )


def _example() -> Policy:
    return Policy(
        model="tiny",
        model_digest=_DIGEST,
        difficulty=_DIGEST,
        buckets=tuple(
            BucketSteps(bucket=bucket, max_steps=steps) for bucket, steps in zip(Bucket, (2, 4, 8, 16, 32), strict=True)
        ),
        tasks=(
            TaskPolicy(
                task=DEFAULT_TASK,
                mode=BudgetMode.FIXED,
                floor=1,
                default=16,
                ceiling=32,
                strategy=None,
                exit=None,
                alpha=0.01,
                shift=0.0,
            ),
            TaskPolicy(
                task="latin",
                mode=BudgetMode.ADAPTIVE,
                floor=2,
                default=8,
                ceiling=32,
                strategy=StrategyChoice(name=StrategyName.FINALITY, threshold=0.95, window=8),
                finality=_DIGEST,
                precision=(_PRECISION,),
                exit=_observed(),
                alpha=0.01,
                shift=0.5,
            ),
        ),
        classes=_classes(),
        default_class="interactive",
        control=ControlPolicy(fraction=0.02, young_fraction=0.1, young_until=381),
    )


def _classes() -> tuple[ClassPolicy, ...]:
    return (
        ClassPolicy(
            name="interactive",
            prefers=Preference.DEADLINE,
            max_steps=32,
            max_total_steps=128,
            at_cap=AtCap.TRUNCATE,
            re_expansions=1,
            re_expansion_factor=2.0,
            deadline_s=10.0,
            weight=8.0,
            smaller_bucket=True,
        ),
        ClassPolicy(
            name="batch",
            prefers=Preference.QUALITY,
            max_steps=32,
            max_total_steps=None,
            at_cap=AtCap.FAIL,
            re_expansions=3,
            re_expansion_factor=2.0,
            weight=1.0,
            min_share=0.1,
            max_share=1.0,
            searches=(SearchPolicy(task="latin", method=SearchMethod.CANDIDATES, width=4, from_bucket=Bucket.L),),
            quality_floor=4,
        ),
    )
