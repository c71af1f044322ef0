"""Behaviour of `unmask.gate.review_store`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate.review_runs import make_correction, make_key, make_scored
from unmask.gate.artefacts import RunFolder
from unmask.gate.audit import AuditDraw
from unmask.gate.correction import Decision
from unmask.gate.review_errors import ReviewStoreError
from unmask.gate.review_finding import Finding, FindingKind
from unmask.gate.review_store import CORRECTIONS, ReviewStore

WRITER = """
import sys
from tests.gate.review_runs import make_correction, make_key, make_scored
from unmask.gate.artefacts import RunFolder
from unmask.gate.correction import Decision
from unmask.gate.review_store import ReviewStore

store = ReviewStore(RunFolder(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(60):
    scored = make_scored(make_key(f"{sys.argv[2]}-{number}"))
    store.add(make_correction(scored, Decision.CORRECT, who=sys.argv[2], after=number))
"""
SCORED = make_scored(make_key("용-0"))


def store_in(folder: Path) -> ReviewStore:
    """Open a store."""
    return ReviewStore(RunFolder(str(folder)))


def make_draw(n: int, seed: int = 0, when: str = "1") -> AuditDraw:
    """Return a draw of a run of 100 answers."""
    return AuditDraw(seed=seed, n=n, of=100, who="mina", when=when)


def test_everything_reads_back(tmp_path: Path) -> None:
    """Decisions in the order they were made in, whatever their order in the file; nothing where nothing was said."""
    store = store_in(tmp_path)
    assert (store.corrections(), store.findings(), store.draw()) == ((), (), None)
    later, earlier = (make_correction(SCORED, Decision.WRONG, after=after) for after in (5, 1))
    finding = Finding(
        kind=FindingKind.RUBRIC,
        run="r",
        corrections=(later.id,),
        to="rubric.yaml",
        scenario=None,
        note="말투는 사실이 아니다",
        who="mina",
        when="2",
    )
    for record in (later, earlier, finding, make_draw(5)):
        store.add(record)

    assert store_in(tmp_path).corrections() == (earlier, later)
    assert (store.findings(), store.draw()) == ((finding,), make_draw(5))


def test_draw_in_force_is_the_largest_with_the_first_seed(tmp_path: Path) -> None:
    """Two terminals that draw first at once agree on whose draw it is."""
    store = store_in(tmp_path)
    for draw in (make_draw(9, seed=7, when="2"), make_draw(4, when="1"), make_draw(6, when="3")):
        store.add(draw)

    assert store.draw() == make_draw(6, when="3")


def test_draw_is_extended_from_what_is_there(tmp_path: Path) -> None:
    """Nothing is added where nothing more is wanted."""
    store = store_in(tmp_path)
    store.extend_draw(lambda earlier: make_draw(3) if earlier is None else None)
    store.extend_draw(lambda earlier: None if earlier == make_draw(3) else make_draw(50))

    assert store.draw() == make_draw(3)


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each line of each of them is there."""
    root = Path(__file__).parents[2]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("mina", "jun")
    ]
    # Both have imported all they need, so that they write at the same time.
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0]
    found = store_in(tmp_path).corrections()

    assert {(one.who, one.key.scenario) for one in found} == {
        (name, f"{name}-{number}") for name in ("mina", "jun") for number in range(60)
    }
    assert len(found) == 120


def test_object_store_keeps_every_line() -> None:
    """Each is an object of its own there, whoever writes at the same time; the last decision is the latest by time."""
    stores = [ReviewStore(RunFolder("memory://reviews/run")) for _ in range(2)]
    words = [make_correction(SCORED, Decision.WRONG, who=f"r{number}", after=9 - number) for number in range(6)]
    for number, word in enumerate(words):
        stores[number % 2].add(word)

    assert stores[0].corrections() == tuple(reversed(words))


def test_torn_line_of_a_killed_process_is_none(tmp_path: Path) -> None:
    """The next decision takes its place."""
    store = store_in(tmp_path)
    store.add(make_correction(SCORED, Decision.WRONG))
    with (tmp_path / CORRECTIONS).open("ab") as file:
        file.write(b'{"key": {"scen')
    store.add(make_correction(SCORED, Decision.CORRECT, after=1))

    assert [one.decision for one in store.corrections()] == [Decision.WRONG, Decision.CORRECT]


@pytest.mark.parametrize("line", ["{}", '{"seed": 1}', "nonsense"])
def test_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    """A decision that cannot be read is not passed over."""
    store = store_in(tmp_path)
    store.add(make_correction(SCORED, Decision.WRONG))
    with (tmp_path / CORRECTIONS).open("a") as file:
        file.write(f"{line}\n")

    with pytest.raises(ReviewStoreError, match=r"line 2 of .*corrections.jsonl is damaged"):
        store.corrections()


def test_text_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    """Half of a surrogate pair, as a terminal of another encoding may give."""
    with pytest.raises(ReviewStoreError, match="no Unicode text"):
        store_in(tmp_path).add(make_correction(SCORED, Decision.WRONG, who="mi\udcffna"))


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "review").write_text("")

    with pytest.raises(ReviewStoreError, match=r"cannot write .*review/lock"):
        store_in(tmp_path).add(make_correction(SCORED, Decision.WRONG))
