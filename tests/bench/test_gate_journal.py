"""Behaviour of `unmask.bench.gate_journal`."""

from dataclasses import replace
from pathlib import Path

import pytest

from unmask.bench.gate_journal import Arm, GateJournalError, JournalOf, Key, Reply, open_gate_journal
from unmask.bench.gate_stages import Stage
from unmask.types import Mode

OF = JournalOf(
    model_digest="0123456789abcdef", precision="float32", suite="5" * 64, ways="7" * 64, policy="", temperature=0.3
)
REPLIES = (
    Reply(text="I live in Miven.", steps=3, tokens=5, seconds=0.25),
    Reply(text="그곳은 미벤.", steps=4, tokens=9, seconds=1.0),
)


def make_key(scenario: str) -> Key:
    """Name a scenario in one arm."""
    return Key(scenario=scenario, arm=Arm(stage=Stage.TYPED, mode=Mode.AUTOREGRESSIVE), seed=2)


def keep(folder: Path, *scenarios: str) -> None:
    """Note the same answers to scenarios."""
    with open_gate_journal(folder, OF) as journal:
        for scenario in scenarios:
            journal.note(make_key(scenario), REPLIES)


def test_answers_are_there_next_time(tmp_path: Path) -> None:
    """As they were, and told apart by arm and seed."""
    keep(tmp_path, "a")
    keep(tmp_path, "b")

    with open_gate_journal(tmp_path, OF) as journal:
        assert len(journal) == 2
        assert journal[make_key("a")] == journal[make_key("b")] == REPLIES
        assert replace(make_key("a"), seed=1) not in journal
        assert replace(make_key("a"), arm=Arm(stage=Stage.TYPED, mode=Mode.DIFFUSION)) not in journal


def test_half_a_line_is_asked_again(tmp_path: Path) -> None:
    """What a killed run leaves is cut off, and all before it is kept."""
    keep(tmp_path, "a", "b")
    path = tmp_path / OF.file_name
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])

    with open_gate_journal(tmp_path, OF) as journal:
        assert make_key("a") in journal
        assert make_key("b") not in journal
    keep(tmp_path, "b")
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "of", [{"ways": "8" * 64}, {"policy": "a" * 64}, {"temperature": 0.7}, {"model_digest": "other"}]
)
def test_answers_of_something_else_are_refused(tmp_path: Path, of: dict[str, str]) -> None:
    """Whatever differs: it would be figures of neither."""
    keep(tmp_path, "a")
    other = replace(OF, **of)  # type: ignore[arg-type]
    (tmp_path / OF.file_name).replace(tmp_path / other.file_name)

    with pytest.raises(GateJournalError, match="remove the file"), open_gate_journal(tmp_path, other):
        pass


def test_damage_is_refused(tmp_path: Path) -> None:
    """With how much was there before it."""
    keep(tmp_path, "a")
    path = tmp_path / OF.file_name
    path.write_bytes(path.read_bytes() + b'{"scenario": 3}\n')

    with pytest.raises(GateJournalError, match="after 1 answers"), open_gate_journal(tmp_path, OF):
        pass


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file is in its place."""
    (tmp_path / "taken").write_text("")

    with pytest.raises(GateJournalError, match="--folder"), open_gate_journal(tmp_path / "taken", OF):
        pass
