"""Behaviour of `unmask.bench.tuning_journal`."""

from pathlib import Path

import pytest

from unmask.bench.trial import Answer
from unmask.bench.tuning_journal import JournalOf, Key, TuningJournalError, open_tuning_journal

OF = JournalOf(model_digest="0123456789abcdef", precision="float32", seed=3)
ANSWER = Answer(steps=3, tokens=5, seconds=0.0, correct=True)


def keep(folder: Path, *labels: str) -> None:
    """Note an answer under each label."""
    with open_tuning_journal(folder, OF) as journal:
        for label in labels:
            journal.note(Key(item="i", label=label), ANSWER)


def test_answers_are_there_next_time(tmp_path: Path) -> None:
    """Those of an earlier run and those of this one."""
    keep(tmp_path, "a")
    keep(tmp_path, "b")

    with open_tuning_journal(tmp_path, OF) as journal:
        assert len(journal) == 2
        assert journal[Key(item="i", label="a")] == journal[Key(item="i", label="b")] == ANSWER
        assert Key(item="i", label="c") not in journal


def test_half_a_line_is_measured_again(tmp_path: Path) -> None:
    """What a killed run leaves is cut off, wherever that is."""
    keep(tmp_path, "a", "b")
    path = tmp_path / OF.file_name
    whole = path.read_bytes()

    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        keep(tmp_path)
        left = path.read_bytes()
        assert left.endswith(b"\n")
        assert left.count(b"\n") == max(1, whole[:size].count(b"\n"))


@pytest.mark.parametrize("of", [{"model_digest": "other"}, {"precision": "bfloat16"}, {"seed": 4}])
def test_each_model_precision_and_seed_has_its_own(tmp_path: Path, of: dict[str, object]) -> None:
    """And one that was renamed is refused."""
    keep(tmp_path, "a")
    fields: dict[str, object] = {"model_digest": OF.model_digest, "precision": OF.precision, "seed": OF.seed} | of
    other = JournalOf(**fields)  # type: ignore[arg-type]

    with open_tuning_journal(tmp_path, other) as journal:
        assert len(journal) == 0
    (tmp_path / OF.file_name).replace(tmp_path / other.file_name)
    with pytest.raises(TuningJournalError, match="seed 3"), open_tuning_journal(tmp_path, other):
        pass


def test_damage_is_refused(tmp_path: Path) -> None:
    """With the place and the way out."""
    keep(tmp_path, "a", "b")
    path = tmp_path / OF.file_name
    path.write_bytes(path.read_bytes().replace(b'"label":"b"', b'"label":2'))

    with pytest.raises(TuningJournalError, match=r"after 1 answers.*--folder"), open_tuning_journal(tmp_path, OF):
        pass


def test_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """A file stands where the folder would be."""
    (tmp_path / "file").write_text("")

    with pytest.raises(TuningJournalError, match="--folder"), open_tuning_journal(tmp_path / "file", OF):
        pass
