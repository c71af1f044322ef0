"""The folder of a run, on a disk, in memory, and in an S3 server."""

import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock
from uuid import uuid4

import boto3
import fsspec
import pytest

from tests.gate.s3_server import s3_server
from unmask.gate.artefacts import RESPONSES, RunFolder
from unmask.gate.codec import response_line
from unmask.gate.errors import ForeignRunError, RunFolderError
from unmask.gate.response import SystemLabel
from unmask.gate.scenario import ScenarioKind
from unmask.gate.score import Mark, Metric, Scored
from unmask.policy.disk import SystemDisk
from unmask.testing.gate_answers import make_answer, make_binding, make_key, make_system


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """Return the URL of a bucket."""
    with s3_server() as url:
        yield url


@pytest.fixture(params=["disk", "memory", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a folder that is not there yet, of each kind."""
    match request.param:
        case "disk":
            return str(tmp_path / "실행" / "run")
        case "memory":
            return f"memory://{uuid4().hex}/run"
        case _:
            return f"{request.getfixturevalue('s3')}/{uuid4().hex}/run"


def scored(cluster: str) -> Scored:
    """Return a score of one mark."""
    mark = Mark(metric=Metric.FACTUAL_PRECISION, value=1.0, why=("정우의 집",))
    return Scored(key=make_key(), kind=ScenarioKind.FACT, cluster=cluster, marks=(mark,))


def test_answers_come_back_in_order_from_any_store(url: str) -> None:
    """What one process appends another reads, on a disk as in an object store."""
    answers = [make_answer(f"s{number}", text=f"답 {number}") for number in range(12)]
    folder = RunFolder(url)
    folder.append_responses(answers[:1])
    folder.append_responses(answers[1:5])
    RunFolder(url).append_responses(answers[5:])

    assert RunFolder(url).responses() == tuple(answers)


def test_a_folder_that_is_not_there_holds_nothing(url: str) -> None:
    """Nothing is no fault."""
    folder = RunFolder(url)

    assert folder.binding() is None
    assert folder.responses() == ()
    assert folder.scores() == ()
    assert folder.read_text("notes.md") is None
    assert folder.lines("corrections.jsonl") == ()


def test_scores_and_texts_are_replaced_as_a_whole(url: str) -> None:
    """Scores can be made again at any time, and take the place of those before."""
    folder = RunFolder(url)
    folder.write_scores([scored("a"), scored("b")])
    folder.write_scores([scored("c")])
    folder.write_text("report.md", "통과")

    assert RunFolder(url).scores() == (scored("c"),)
    assert RunFolder(url).read_text("report.md") == "통과"


def test_other_lines_are_only_ever_added(url: str) -> None:
    """Corrections append and never overwrite."""
    RunFolder(url).append_lines("corrections.jsonl", [b'{"by":1}\n'])
    RunFolder(url).append_lines("corrections.jsonl", [b'{"by":2}\n'])

    assert RunFolder(url).lines("corrections.jsonl") == (b'{"by":1}', b'{"by":2}')


def test_a_folder_is_gone_on_with_by_its_own_run_only(url: str) -> None:
    """Answers of two runs are never mixed; the refusal names both and what differs."""
    folder = RunFolder(url)
    folder.begin(make_binding())

    assert folder.begin(make_binding(run="second", started="later")).run == "first"
    with pytest.raises(ForeignRunError, match=r"run first and this is second: it has seeds \(0,\), not \(0, 1\)"):
        folder.begin(make_binding(run="second", seeds=(0, 1)))
    with pytest.raises(ForeignRunError, match=rf"digest of model \w+, not {'f' * 16}\."):
        folder.begin(make_binding(systems=(make_system(digest="f" * 16),)))
    with pytest.raises(ForeignRunError, match=r"settings of model .*, not steps=8 temperature=1\."):
        folder.begin(make_binding(systems=(make_system(settings=("steps=8", "temperature=1")),)))
    with pytest.raises(ForeignRunError, match=r"systems model, not model, against\."):
        folder.begin(make_binding(systems=(make_system(), make_system(label=SystemLabel.AGAINST))))


def test_answers_without_their_run_are_not_gone_on_with(url: str) -> None:
    """A folder that lost its binding cannot say whose answers it holds."""
    folder = RunFolder(url)
    folder.append_responses([make_answer()])

    with pytest.raises(RunFolderError, match=r"no run\.json"):
        folder.begin(make_binding())


def test_a_fault_gives_way_to_an_answer(url: str) -> None:
    """What was asked again counts once, as it ended."""
    folder = RunFolder(url)
    folder.append_responses([make_answer("a", turns=(), fault="429"), make_answer("b")])
    folder.append_responses([make_answer("a")])

    assert set(folder.responses()) == {make_answer("a"), make_answer("b")}
    folder.append_responses([make_answer("b", turns=(), fault="late")])
    assert set(folder.responses()) == {make_answer("a"), make_answer("b")}


def test_an_answer_is_never_overwritten(url: str) -> None:
    """Two different answers to one question are damage, and told; the same one twice is a copy."""
    folder = RunFolder(url)
    folder.append_responses([make_answer("a"), make_answer("a")])
    assert folder.responses() == (make_answer("a"),)

    folder.append_responses([make_answer("a", text="otherwise")])
    with pytest.raises(RunFolderError, match=r"line 3 of .* answers a \(seed 0, model\) again, otherwise"):
        folder.responses()


@pytest.mark.parametrize("torn", [b'{"key":{"scen', '{"key":"미'.encode()[:-1], b"}"])
def test_half_a_line_is_passed_over_and_cut_off(tmp_path: Path, torn: bytes) -> None:
    """A process killed while writing leaves half a line; nothing that was whole is lost by it."""
    folder = RunFolder(str(tmp_path))
    folder.append_responses([make_answer("a")])
    with (tmp_path / RESPONSES).open("ab") as file:
        file.write(torn)

    assert folder.responses() == (make_answer("a"),)
    folder.append_responses([make_answer("b")])
    assert (tmp_path / RESPONSES).read_bytes() == response_line(make_answer("a")) + response_line(make_answer("b"))


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    """Damage before the end is never passed over."""
    (tmp_path / RESPONSES).write_bytes(response_line(make_answer()) + b"nonsense\n" + response_line(make_answer("b")))

    with pytest.raises(RunFolderError, match=r"line 2 of .*responses\.jsonl is not an answer"):
        RunFolder(str(tmp_path)).responses()


def test_a_folder_copied_from_an_object_store_is_read(s3: str, tmp_path: Path) -> None:
    """Parts are read wherever they lie, and answers that come after them too."""
    url = f"{s3}/{uuid4().hex}"
    RunFolder(url).append_responses([make_answer("a")])
    RunFolder(url).append_responses([make_answer("b")])
    store = fsspec.filesystem("s3")
    store.get(url.removeprefix("s3://"), str(tmp_path / "copy"), recursive=True)
    copy = RunFolder(str(tmp_path / "copy"))
    copy.append_responses([make_answer("c")])

    assert {response.key.scenario for response in copy.responses()} == {"a", "b", "c"}


def test_a_store_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The message has the place and the system's reason."""
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(RunFolderError, match=r"cannot write .*file/run"):
        RunFolder(str(tmp_path / "file" / "run")).append_responses([make_answer()])


class FullDisk(SystemDisk):
    """A disk with room for so many bytes, written a few at a time."""

    def __init__(self, room: int) -> None:
        self._room = room

    def write(self, handle: int, content: bytes) -> int:
        """Write a few bytes as long as there is room."""
        some = content[: min(100, self._room)]
        if not some:
            raise OSError(28, "No space left on device")
        self._room -= len(some)
        return super().write(handle, some)


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    """An answer that did not fit is told and not there; those before it are."""
    folder = RunFolder(str(tmp_path), FullDisk(len(response_line(make_answer("a"))) + 150))
    folder.append_responses([make_answer("a")])

    with pytest.raises(RunFolderError, match="No space left"):
        folder.append_responses([make_answer("b")])
    assert (tmp_path / RESPONSES).read_bytes() == response_line(make_answer("a"))


def test_two_processes_do_not_ask_one_run(tmp_path: Path) -> None:
    """The second is refused; when the first is done it may."""
    with (
        RunFolder(str(tmp_path)).alone(),
        pytest.raises(RunFolderError, match="another process"),
        RunFolder(str(tmp_path)).alone(),
    ):
        pass
    with RunFolder(str(tmp_path)).alone():
        pass


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("nowhere://x/y", "no folder that can be opened"),
        ("http2+what://x", "no folder that can be opened"),
        ("s3://", "names no bucket"),
    ],
)
def test_an_unknown_kind_of_store_is_refused(url: str, reason: str) -> None:
    """What fsspec does not know is no folder, nor is a store without a bucket."""
    with pytest.raises(RunFolderError, match=reason):
        RunFolder(url)


def test_a_store_whose_package_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)

    with pytest.raises(RunFolderError, match=r"pip install 'unmask\[aws\]'"):
        RunFolder("s3://runs/a")


def test_a_bucket_that_is_gone_is_told_at_the_next_answer(s3: str) -> None:
    """What was written is lost with the bucket, and nobody believes that answers are still kept."""
    client = boto3.client("s3")
    client.create_bucket(Bucket="brief")
    folder = RunFolder("s3://brief/run")
    folder.append_responses([make_answer("a")])
    boto3.resource("s3").Bucket("brief").objects.delete()
    client.delete_bucket(Bucket="brief")

    with pytest.raises(RunFolderError, match=r"cannot write s3://brief/run/responses\.jsonl: The specified bucket"):
        folder.append_responses([make_answer("b")])


def test_what_s3_refuses_is_told(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad name never leaves this machine, and no permission comes back as S3 says it; both are errors of ours."""
    with pytest.raises(RunFolderError, match="Invalid bucket name"):
        RunFolder("s3://Not A Bucket/run").write_text("run.json", "{}")
    monkeypatch.setattr(fsspec.filesystem("s3"), "pipe_file", Mock(side_effect=PermissionError("Access Denied")))
    with pytest.raises(RunFolderError, match=r"cannot write .*/run\.json: Access Denied"):
        RunFolder(f"{s3}/closed").write_text("run.json", "{}")


def test_missing_credentials_are_told(s3: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Botocore's own errors are no `OSError`, and are told all the same."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    fsspec.get_filesystem_class("s3").clear_instance_cache()

    with pytest.raises(RunFolderError, match="Unable to locate credentials"):
        RunFolder(f"{s3}/keyless").binding()
    fsspec.get_filesystem_class("s3").clear_instance_cache()
