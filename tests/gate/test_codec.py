"""Lines of answers and scores."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.gate.codec import binding_text, read_binding, read_response, read_scored, response_line, scored_line
from unmask.gate.errors import RunFolderError
from unmask.gate.response import Response, SystemLabel, TurnResponse
from unmask.gate.scenario import ScenarioKind
from unmask.gate.score import Mark, Metric, Scored, Vote
from unmask.testing.gate_answers import make_answer, make_binding, make_context, make_key, make_system
from unmask.types import Message, Role

TEXT = st.text(st.characters(codec="utf-8"))
SECONDS = st.floats(min_value=0, max_value=1e6)
MESSAGES = st.builds(Message, role=st.sampled_from(Role), content=TEXT)
TURNS = st.builds(
    TurnResponse,
    messages=st.lists(MESSAGES, max_size=3).map(tuple),
    context=st.just(make_context()),
    text=TEXT,
    finish_reason=TEXT,
    prompt_tokens=st.integers(0, 10),
    output_tokens=st.integers(0, 10),
    steps=st.none() | st.integers(0, 99),
    seconds=SECONDS,
)
RESPONSES = st.builds(
    Response,
    key=st.builds(make_key, TEXT, st.integers(0, 2**62), st.sampled_from(SystemLabel)),
    turns=st.lists(TURNS, max_size=3).map(tuple),
    fault=st.none() | TEXT,
    attempts=st.integers(1, 99),
)
VOTES = st.builds(Vote, judge=TEXT, value=st.none() | st.floats(0, 1), reason=TEXT, raw=TEXT)
MARKS = st.builds(
    Mark,
    metric=st.sampled_from(Metric),
    value=st.none() | SECONDS,
    why=st.lists(TEXT, max_size=2).map(tuple),
    votes=st.lists(VOTES, max_size=2).map(tuple),
    borderline=st.booleans(),
)
SCORES = st.builds(
    Scored,
    key=st.just(make_key()),
    kind=st.sampled_from(ScenarioKind),
    cluster=TEXT,
    marks=st.lists(MARKS, max_size=3).map(tuple),
)


@given(RESPONSES)
def test_an_answer_is_read_back_as_it_was(response: Response) -> None:
    """Whatever a model says, in whatever script, its line is one line and gives the same value."""
    line = response_line(response)

    assert line.count(b"\n") == 1
    assert read_response(line) == response


@given(SCORES)
def test_a_score_is_read_back_as_it_was(scored: Scored) -> None:
    """Votes, reasons and values that could not be told come back unchanged."""
    line = scored_line(scored)

    assert line.count(b"\n") == 1
    assert read_scored(line) == scored


def test_a_binding_is_read_back_as_it_was() -> None:
    """What a run is of survives its document."""
    binding = make_binding(systems=(make_system(), make_system(SystemLabel.AGAINST, url="http://host/v1")))

    assert read_binding(binding_text(binding)) == binding


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b'"attempts":1', b'"attempts":1,"mood":1', "mood"),
        (b'"seed":0', b'"seed":0,"mood":1', "key.mood"),
        (b'"seed":0', b'"seed":"0"', "key.seed"),
        (b'"seed":0', b'"seed":true', "key.seed"),
        (b'"asked"', b'"guessed"', "turns.0.context.facts.0.reason"),
        (b'"fault":null,', b"", ""),
        (b'"system":"model"', b'"system":"other"', "key.system"),
        (b"}\n", b"", "JSON"),
        (b"{", b"[", "JSON"),
    ],
)
def test_a_line_is_read_strictly(old: bytes, new: bytes, words: str) -> None:
    """Unknown names, other types, unknown words and cut lines are refused, and the field is named."""
    line = response_line(make_answer()).replace(old, new, 1)

    if not words:
        # What has a default may be left out.
        assert read_response(line) == make_answer()
        return
    with pytest.raises(RunFolderError, match=words):
        read_response(line)


@pytest.mark.parametrize("read", [read_response, read_scored])
def test_what_is_another_thing_is_refused(read: Callable[[bytes], object]) -> None:
    """A line of something else is no answer and no score."""
    with pytest.raises(RunFolderError, match=r"not an? "):
        read(b'{"verdict": "pass"}')


def test_a_document_of_another_format_is_refused() -> None:
    """A later format is not read as if it were this one."""
    with pytest.raises(RunFolderError, match="format"):
        read_binding(binding_text(make_binding()).replace("run/1", "run/2"))
