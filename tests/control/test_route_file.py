"""Behaviour of the file of a route."""

from pathlib import Path

import orjson
import pytest

from tests.control.values import make_features
from unmask.control.route import RouteEnd
from unmask.control.route_file import RouteFileError, parse_route, read_route, route_content
from unmask.testing.routes import make_fit, make_task_route

FIT = make_fit(tasks={"sort": make_task_route(), "latin": make_task_route(threshold=None)})
CONTENT = route_content(small=FIT.small, large=FIT.large, tasks=FIT.tasks, report={"n": 3, "말": "한글"})


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Models, thresholds and predictions; the digest is of the content alone."""
    path = tmp_path / "auto.json"
    path.write_bytes(CONTENT)
    read = read_route(path)

    assert (read.small, read.large) == (RouteEnd(name="nano", digest=FIT.small.digest), FIT.large)
    assert [(name, one.threshold, one.threshold_alone) for name, one in read.tasks.items()] == [
        ("sort", 0.5, None),
        ("latin", None, None),
    ]
    for digits in (1, 9):
        features = make_features(digits=digits)
        assert read.tasks["sort"].probability(features) == FIT.tasks["sort"].probability(features)
    assert parse_route(Path("elsewhere"), CONTENT).digest == read.digest


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"threshold": 0.5', b'"threshold": 0.4', "digest is another"),
        (b'"threshold": 0.5', b'"threshold": 1.5', "tasks.sort.threshold"),
        (b'"report"', b'"rapport"', "report"),
        (b"unmask.route/1", b"unmask.route/9", "format"),
        (b"2.5", b"2.25", "digest is another"),
        (b"}", b"", "no JSON"),
    ],
)
def test_what_was_changed_is_refused_with_the_command_that_mends_it(old: bytes, new: bytes, message: str) -> None:
    """A threshold moved by hand, a predictor, a field, a format, or a file cut short."""
    with pytest.raises(RouteFileError, match=message) as caught:
        parse_route(Path("auto.json"), CONTENT.replace(old, new, 1))

    assert "unmask tune routing" in caught.value.message


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    """Not there, no object, or thresholds for task types without predictions."""
    for content in (b"[]", b"3", b"\xff"):
        with pytest.raises(RouteFileError, match="unmask tune routing"):
            parse_route(Path("auto.json"), content)
    with pytest.raises(RouteFileError, match="cannot be read"):
        read_route(tmp_path / "none.json")
    value = orjson.loads(CONTENT)
    del value["tasks"]["latin"]
    with pytest.raises(RouteFileError, match="digest is another"):
        parse_route(Path("auto.json"), orjson.dumps(value))
