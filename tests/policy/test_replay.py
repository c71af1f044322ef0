"""Behaviour of `unmask.policy.replay`."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.policy.replays import make_replay, make_replayed
from unmask.errors import ConfigError
from unmask.policy.policy import Policy
from unmask.policy.replay import (
    LARGEST_FILE,
    Replay,
    check_replay,
    controls_needed,
    parse_replay,
    read_replay,
    replay_bytes,
)
from unmask.stats import Interval, wilson
from unmask.testing.budget_policies import make_exit, make_policy, make_task_policy, signed

OLD, NEW = "0" * 64, "1" * 64
POLICY: Policy = make_policy(tasks=(make_task_policy(), make_task_policy("sort", exit=make_exit(enabled=True))))


def check(replay: Replay, promoted: datetime | None = None) -> None:
    """Check a replay that is handed in at hour 20."""
    check_replay(
        replay,
        old=OLD,
        new=NEW,
        policy=POLICY,
        tasks=("sort",),
        promoted=promoted,
        submitted=signed("x", 20).time,
    )


@pytest.mark.parametrize("limit", [0.5, 0.1, 0.05, 0.01, 0.001])
def test_enough_controls_are_the_fewest_that_bound_the_share(limit: float) -> None:
    """With one fewer not even a spotless record would do."""
    needed = controls_needed(limit)
    enough, few = wilson(0, needed), wilson(0, needed - 1)

    assert isinstance(enough, Interval)
    assert enough.high <= limit
    assert not isinstance(few, Interval) or few.high > limit


def test_one_in_a_hundred_needs_381() -> None:
    """The figure that operators are told."""
    assert controls_needed(0.01) == 381


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    """Times, intervals and counts included; the bytes are the same again."""
    replay = make_replay(OLD, NEW)
    path = tmp_path / "r.json"
    path.write_bytes(replay_bytes(replay))

    assert read_replay(path) == replay
    assert replay_bytes(read_replay(path)) == replay_bytes(replay)


def test_right_replay_passes() -> None:
    """Controls from the very moment of the promotion on count."""
    replay = make_replay(OLD, NEW)

    check(replay)
    check(replay, promoted=replay.first)


@pytest.mark.parametrize(
    ("replay", "param", "said"),
    [
        (make_replay(NEW, NEW), "replay.old", "allowed: '?0000"),
        (make_replay(OLD, OLD), "replay.new", "allowed: '?1111"),
        (make_replay(OLD, NEW, last=signed("x", 21).time), "replay.last", "which is now"),
        (make_replay(OLD, NEW, tasks=()), "replay.tasks", "sort among them"),
        (
            make_replay(OLD, NEW, tasks=(make_replayed(controls=380),)),
            "replay.tasks.sort.controls",
            "is 380, allowed: at least 381 for a misjudgement limit of 0.01",
        ),
        (
            make_replay(
                OLD,
                NEW,
                tasks=(make_replayed(new_misjudged=1, misjudgement=Interval(estimate=1 / 381, low=-0.1, high=0.1)),),
            ),
            "replay.tasks.sort.new_misjudged",
            "Make the exit stricter",
        ),
    ],
)
def test_replay_that_shows_nothing_is_refused(replay: Replay, param: str, said: str) -> None:
    """Of another change, from the future, of other task types, too small, or not good enough."""
    with pytest.raises(ConfigError, match=said) as caught:
        check(replay)

    assert caught.value.param == param


def test_stale_controls_are_refused() -> None:
    """A control from before the promotion was drawn under another policy."""
    with pytest.raises(ConfigError, match=r"replay\.first is .* before the active policy's promotion"):
        check(make_replay(OLD, NEW), promoted=signed("x", 10, "").time.replace(minute=1))


def test_three_misjudgements_need_878() -> None:
    """The bound, not the rate, is what counts."""
    share = Interval(estimate=3 / 878, low=-0.1, high=0.1)

    check(make_replay(OLD, NEW, tasks=(make_replayed(controls=878, new_misjudged=3, misjudgement=share),)))
    share = Interval(estimate=3 / 877, low=-0.1, high=0.1)
    with pytest.raises(ConfigError, match="new_misjudged is 3"):
        check(make_replay(OLD, NEW, tasks=(make_replayed(controls=877, new_misjudged=3, misjudgement=share),)))


def spoilt(**changes: Any) -> bytes:  # noqa: ANN401 - any field
    """Return the bytes of a replay whose task type has these fields."""
    return replay_bytes(make_replay(OLD, NEW, tasks=(make_replayed(**changes),)))


GOOD = replay_bytes(make_replay(OLD, NEW))


@pytest.mark.parametrize(
    ("content", "param"),
    [
        (b"", "the replay"),
        (b"[]", "the replay"),
        (b"\xff", "the replay"),
        (GOOD.replace(b'"old"', b'"odl"'), "old"),
        (GOOD.replace(b'"controls":381', b'"controls":-1'), "tasks.0.controls"),
        (GOOD.replace(b'"controls":381', b'"controls":381.0'), "tasks.0.controls"),
        (GOOD.replace(b'"high":0.01', b'"high":NaN'), "tasks.0.misjudgement.high"),
        (GOOD.replace(b"T10:00:00Z", b"T10:00:00"), "first"),
        (GOOD.replace(b'"records":"a', b'"records":"g'), "records"),
        (GOOD[:-1] + b',"more":1}', "more"),
        (spoilt(old_misjudged=382), "replay.tasks.sort.old_misjudged"),
        (spoilt(steps=Interval(estimate=3.0, low=0.0, high=1.0)), "replay.tasks.sort.steps"),
        (spoilt(old_misjudged=1), "replay.tasks.sort.misjudgement.estimate"),
        (replay_bytes(make_replay(OLD, NEW, first=signed("x", 12).time)), "replay.first"),
        (replay_bytes(make_replay(OLD, NEW, tasks=(make_replayed(), make_replayed()))), "replay.tasks"),
    ],
)
def test_malformed_replay_is_refused(content: bytes, param: str) -> None:
    """Missing and unknown fields, figures that no replay has, and figures that contradict each other."""
    with pytest.raises(ConfigError) as caught:
        parse_replay(content)

    assert caught.value.param == param


def test_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """It has to be there and of a reasonable size."""
    large = tmp_path / "large.json"
    large.write_bytes(b" " * (LARGEST_FILE + 1))

    with pytest.raises(ConfigError, match=r"none\.json: No such file"):
        read_replay(tmp_path / "none.json")
    with pytest.raises(ConfigError, match="larger than a replay may be"):
        read_replay(large)
