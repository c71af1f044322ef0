"""``unmask gate job``, and ``unmask gate generate`` as such a job runs it."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import fsspec
import pytest

from tests.cli.terminal import Ended, type_in
from tests.gate.jobs.test_submit import ARN
from tests.gate.s3_server import s3_server
from unmask.backend import Backend
from unmask.config import Settings
from unmask.engine.weights import packaged_weights
from unmask.gate.stored_weights import SUMS
from unmask.testing.fake_backend import FakeBackend

HEAD = (
    *("gate", "job", "write", "--name", "gate-1", "--role", "arn:aws:iam::123456789012:role/Gate"),
    *("--image", "123456789012.dkr.ecr.eu-west-1.amazonaws.com/unmask:1", "--instance", "ml.g5.xlarge"),
)
ASKING = ("example", "--model", "tiny", "--seeds", "1", "--limit", "4", "--retrieval", "naive")


def write(*asking: str, options: tuple[str, ...] = ()) -> Ended:
    """Write a job."""
    return type_in(*HEAD, *options, "--", *asking)


@pytest.fixture(scope="module", name="bucket")
def _bucket() -> Iterator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture(name="job")
def _job(tmp_path: Path) -> Path:
    path = tmp_path / "job.json"
    assert write(*ASKING, "--out", "s3://b/실행", options=("--to", str(path), "--spot", "8")).code == 0
    return path


def test_a_job_that_was_written_passes_its_check_and_is_not_sent(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only --submit sends it."""
    monkeypatch.setattr("unmask.cli.gate_job.sagemaker_client", lambda _: pytest.fail("it was sent"))
    ended = type_in("gate", "job", "check", str(job), "--json")

    assert ended.code == 0
    assert json.loads(ended.out) == {"job": "gate-1", "out": "s3://b/실행", "arn": None}


def test_a_job_is_submitted_when_told_so(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent is the file, with what was added to it by hand."""
    sent: list[dict[str, Any]] = []

    class Client:
        def create_training_job(self, **request: object) -> dict[str, str]:
            sent.append(request)
            return {"TrainingJobArn": ARN}

    request = json.loads(job.read_text(encoding="utf-8")) | {"Tags": [{"Key": "team", "Value": "게임"}]}
    job.write_text(json.dumps(request), encoding="utf-8")
    monkeypatch.setattr("unmask.cli.gate_job.sagemaker_client", lambda _: Client())
    ended = type_in("gate", "job", "check", str(job), "--submit")

    assert (ended.code, sent) == (0, [request])
    assert ARN in ended.out
    assert "unmask gate score s3://b/실행" in ended.err


def test_an_interrupted_job_goes_on(job: Path) -> None:
    """--resume is there once, whether or not it was typed, and cannot be taken out."""
    request = json.loads(job.read_text(encoding="utf-8"))
    arguments = request["AlgorithmSpecification"]["ContainerArguments"]
    typed = json.loads(write(*ASKING, "--out", "s3://b/r", "--resume").out)
    arguments.remove("--resume")
    job.write_text(json.dumps(request), encoding="utf-8")
    refused = type_in("gate", "job", "check", str(job))

    assert typed["AlgorithmSpecification"]["ContainerArguments"].count("--resume") == 1
    assert (refused.code, "no --resume" in refused.err) == (3, True)


@pytest.mark.parametrize(
    ("asking", "options", "reason"),
    [
        (("example", "--out", "s3://b/r"), (), "the following arguments are required: --model"),
        ((*ASKING, "--out", "s3://b/r", "--seeds", "0"), (), "'0' is not a whole number"),
        (ASKING, (), "--out is left out"),
        ((*ASKING, "--out", "/answers"), (), "--out is /answers"),
        ((*ASKING, "--out", "s3://b/r"), ("--env", "KEY"), "allowed: NAME=VALUE"),
        ((*ASKING, "--out", "s3://b/r"), ("--name", "가"), "TrainingJobName is '가'"),
        ((*ASKING, "--out", "s3://b/r"), ("--to", "/nowhere/job.json"), "cannot write /nowhere/job.json"),
    ],
)
def test_what_the_container_would_refuse_is_refused_here(
    asking: tuple[str, ...], options: tuple[str, ...], reason: str
) -> None:
    """Before a machine is paid for."""
    ended = write(*asking, options=options)

    assert (ended.code, ended.out) == (3, "")
    assert reason in ended.err


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[", "is no JSON"),
        ("[]", "allowed: an object"),
        ({"Spot": True}, 'Unknown parameter in input: "Spot"'),
        ({"StoppingCondition": {}}, "MaxRuntimeInSeconds is missing"),
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 9, "MaxWaitTimeInSeconds": 8}}, "at least as long"),
        ({"EnableManagedSpotTraining": False}, "and none without"),
        ({"AlgorithmSpecification": {"TrainingInputMode": "File"}}, "ContainerEntrypoint is None"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(job: Path, content: str | dict[str, object], reason: str) -> None:
    """With what is wrong and what is allowed; nothing is sent, whatever was asked for."""
    if isinstance(content, dict):
        content = json.dumps(json.loads(job.read_text(encoding="utf-8")) | content)
    job.write_text(content, encoding="utf-8")
    ended = type_in("gate", "job", "check", str(job), "--submit")

    assert ended.code == 3
    assert reason in ended.err
    assert type_in("gate", "job", "check", "/nowhere.json").code == 3


def test_answers_go_to_the_bucket_and_are_scored_from_there(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine that asked keeps nothing but weights, which it fetched; whoever scores needs the bucket alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store, place = fsspec.filesystem("s3"), f"{bucket.removeprefix('s3://')}/weights/nano"
    content = packaged_weights("nano").read_bytes()
    store.pipe_file(f"{place}/model.safetensors", content)
    made: list[Settings] = []

    def make(settings: Settings) -> Backend:
        made.append(settings)
        return FakeBackend()

    asking = (*ASKING, "--weights", f"s3://{place}", "--out", f"{bucket}/답", "--resume")
    refused = type_in("gate", "generate", *asking, make_backend=make)
    (tmp_path / SUMS).write_text(f"{sha256(content).hexdigest()}  model.safetensors\n", encoding="utf-8")
    store.put_file(str(tmp_path / SUMS), f"{place}/{SUMS}")
    asked = type_in("gate", "generate", *asking, make_backend=make)
    scored = type_in("gate", "score", f"{bucket}/답", "--json")

    assert (refused.code, asked.code, scored.code) == (3, 0, 0)
    assert "holds no SHA256SUMS" in refused.err
    assert [Path(name).read_bytes() == content for settings in made for name in settings.models] == [True]
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {SUMS, "model.safetensors"}


def test_weights_of_a_server_are_its_own() -> None:
    """--weights with MODEL@URL is a mistake."""
    ended = type_in(
        "gate", "generate", "example", "--model", "qwen@http://127.0.0.1:1/v1", "--weights", "s3://b/w", "--out", "x"
    )

    assert (ended.code, "is on a server" in ended.err) == (3, True)
