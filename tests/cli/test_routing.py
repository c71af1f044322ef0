"""Behaviour of ``unmask tune routing``."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from unmask.backend import Generation, Request, Timing
from unmask.config import Settings
from unmask.control.route_file import read_route
from unmask.tasks.item import Split
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.tune.items import draw_items

ITEMS = ("--items", "60", "--calibrate-items", "60", "--test-items", "30", "--max-loss", "0.1")
ANSWERS = {
    item.messages: item.answer
    for split, count in ((Split.TUNE, 60), (Split.CALIBRATE, 60), (Split.TEST, 30))
    for item in draw_items("sort", count, 0, split)
}


class TimedBackend(FakeBackend):
    """Takes a hundredth of a second a character for an answer of the small model, and a tenth for the large one's."""

    async def generate(self, request: Request) -> Generation:
        """Answer, and say how long it took."""
        generation = await super().generate(request)
        seconds = len(request.messages[-1].content) * (0.01 if request.model == "nano" else 0.1)
        return replace(generation, timing=Timing(arrived=0.0, started=0.0, finished=seconds))


def answering(small: Callable[[str], str]) -> FakeBackend:
    """Return a large model that is right, and a small one whose answers are made of the right ones."""

    def answer(request: Request) -> str:
        right = ANSWERS[request.messages]
        return small(right) if request.model == "nano" else right

    return TimedBackend(answer, models=(make_model("tiny"), make_model("nano", digest="fedcba9876543210")))


def fit(out: Path, *argv: str, small: Callable[[str], str] = lambda text: text) -> Ended:
    """Fit a route over fakes, on sorts alone."""
    models = ("--small", "nano", "--large", "tiny", "--task", "sort")
    return type_in("tune", "routing", *models, *ITEMS, "--out", str(out), *argv, backend=answering(small))


def test_a_small_model_that_is_never_right_leaves_all_to_the_large_one(tmp_path: Path) -> None:
    """The file is a sound one that says so, and so does the command."""
    ended = fit(tmp_path / "auto.json", small=lambda _: "모름")
    read = read_route(tmp_path / "auto.json")

    assert ended.code == 0, ended.err
    assert "all requests go to tiny" in ended.err
    assert (read.tasks["sort"].threshold, read.tasks["sort"].threshold_alone) == (None, None)
    assert (read.small.name, read.large.digest) == ("nano", make_model("tiny").digest)


def test_what_was_measured_is_shown_and_kept(tmp_path: Path) -> None:
    """As JSON too: every threshold that was tried, and saving and quality on the test split."""
    ended = fit(tmp_path / "auto.json", "--json")
    report = json.loads(ended.out)
    kept = json.loads((tmp_path / "auto.json").read_bytes())

    assert ended.code == 0, ended.err
    assert kept["report"] == report
    assert report["fitted"][0]["small_right"] == report["fitted"][0]["large_right"] == 1.0
    assert report["fitted"][0]["escalating"]["taken"]["saving"] == pytest.approx(0.9, abs=0.05)
    assert report["judged"][0]["saving"]["estimate"] == pytest.approx(0.9, abs=0.1)
    assert read_route(tmp_path / "auto.json").tasks["sort"].threshold is not None
    assert {"saving", "quality", "small", "escalated"} <= set(report["judged"][0])
    assert report["decision_s"] > 0


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--task", "sorting"), "--task names sorting"),
        (("--max-loss", "1"), "--max-loss 1"),
        (("--small", "tiny"), "both tiny"),
        (("--large", "huge"), "huge"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, argv: tuple[str, ...], message: str) -> None:
    """Before anything is asked, and with what is allowed."""
    ended = fit(tmp_path / "auto.json", *argv)

    assert ended.code != 0
    assert message in ended.err
    assert not (tmp_path / "auto.json").exists()


def test_models_of_other_servers_can_be_fitted(tmp_path: Path) -> None:
    """Their file is what the backend is made of."""
    given: list[Settings] = []

    def make(settings: Settings) -> FakeBackend:
        given.append(settings)
        return answering(lambda text: text)

    argv = ("--small", "nano", "--large", "tiny", "--task", "sort", *ITEMS, "--out", str(tmp_path / "a.json"))
    ended = type_in("tune", "routing", *argv, "--remote", "r.yaml", make_backend=make)

    assert ended.code == 0, ended.err
    assert (given[0].remote, given[0].models) == ("r.yaml", ())
