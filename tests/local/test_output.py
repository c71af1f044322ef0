"""Text and log-probabilities as they go out."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.backend import Alternative, CommitEvent, TokenLogprob
from unmask.core.front import Kind, Notice
from unmask.local.output import Output
from unmask.sched.ending import Writer
from unmask.sequence import OutputToken
from unmask.testing.fixed_tokens import make_fixed
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.text.tokenizer import Special, packaged_tokenizer
from unmask.types import FixedToken, ScoredToken

TOKENIZER = packaged_tokenizer()


def entry(start: int, token: int) -> OutputToken:
    """Return an output token without alternatives."""
    return OutputToken(start=start, fixed=FixedToken(chosen=ScoredToken(token=token, logprob=-1.0)))


def grown(text: str, *tokens: OutputToken) -> Notice:
    """Return the notice of an output that may go on."""
    return Notice(kind=Kind.GROWN, text=text, logprobs=tokens)


def ended(text: str) -> Notice:
    """Return the last notice."""
    return Notice(kind=Kind.ENDED, text=text)


def data(event: CommitEvent | None) -> tuple[str, list[bytes]]:
    """Return the text of an event and the bytes of its tokens."""
    return ("", []) if event is None else (event.text, [one.chosen.data for one in event.logprobs])


def test_a_token_goes_out_with_the_first_of_its_text() -> None:
    """What may yet be cut off takes its tokens with it, and the cut leaves out those that lie inside."""
    o, n, e, t, w = (TOKENIZER.encode(letter)[0] for letter in "onetw")
    output = Output(("tw",), TOKENIZER)

    assert data(output.take(grown("one", entry(0, o), entry(1, n), entry(2, e)))) == ("one", [b"o", b"n", b"e"])
    assert output.take(grown("onet", entry(3, t))) is None
    assert output.take(grown("one", entry(4, w))) is None
    assert output.take(ended("one")) is None
    assert (output.text, [one.chosen.data for one in output.logprobs]) == ("one", [b"o", b"n", b"e"])


def test_a_token_that_the_cut_runs_through_is_there() -> None:
    """Part of its text is output."""
    (word,) = TOKENIZER.encode(" live")
    output = Output(("ive",), TOKENIZER)

    assert data(output.take(grown(" l", entry(0, word)))) == (" l", [b" live"])


def test_a_character_of_several_tokens_takes_them_all_along() -> None:
    """None of them goes out before it is whole."""
    tokens = TOKENIZER.encode("한")
    assert len(tokens) == 3
    output = Output((), TOKENIZER)
    for token in tokens[:2]:
        assert output.take(grown("", entry(0, token))) is None

    assert data(output.take(grown("한", entry(0, tokens[2])))) == ("한", list(map(TOKENIZER.token_bytes, tokens)))


def test_alternatives_come_as_bytes() -> None:
    """The end token has none, and keeps its place among them."""
    (a, b) = TOKENIZER.encode("ab")
    top = tuple(ScoredToken(token=token, logprob=-number / 2) for number, token in enumerate((Special.END, b)))
    token = OutputToken(start=0, fixed=FixedToken(chosen=ScoredToken(token=a, logprob=-2.0), top=top))
    event = Output((), TOKENIZER).take(grown("a", token))

    assert event is not None
    assert event.logprobs == (
        TokenLogprob(
            chosen=Alternative(data=b"a", logprob=-2.0),
            top=(Alternative(data=b"", logprob=0.0), Alternative(data=b"b", logprob=-0.5)),
        ),
    )


TEXTS = st.text(alphabet="ab 가😀", max_size=20)


@given(TEXTS, st.lists(st.text(alphabet="ab 가😀", min_size=1, max_size=3), max_size=2).map(tuple), st.integers(1, 9))
def test_events_join_to_the_output(text: str, stop: tuple[str, ...], size: int) -> None:
    """Tokens that have text before the cut go out once each, in order, however many arrive at once."""
    writer = Writer(end=Special.END, token_bytes=TOKENIZER.token_bytes)
    sequence = make_sequence(make_submission(max_tokens=100, stop=stop, top_logprobs=0))
    tokens = [*TOKENIZER.encode(text), Special.END]
    output, events, told, reason = Output(stop, TOKENIZER), [], 0, None
    for first in range(0, len(tokens), size):
        part = tokens[first : first + size]
        reason = writer.write(sequence, part, [make_fixed(token, 0) for token in part])
        events.append(output.take(grown(sequence.text, *sequence.logprobs[told:])))
        told = len(sequence.logprobs)
        if reason is not None:
            break
    events.append(output.take(ended(sequence.text)))

    texts, sent = zip(*map(data, events), strict=True)
    assert "".join(texts) == output.text == sequence.text
    joined = b"".join(chain(*sent))
    assert joined.startswith(sequence.text.encode())
    assert joined == b"".join(one.chosen.data for one in output.logprobs)
    whole = [TOKENIZER.token_bytes(token) for token in sequence.output]
    count = len(output.logprobs)
    assert joined == b"".join(whole[:count])
    # One token less would be too few, unless there is no text.
    assert count == 0 or len(b"".join(whole[: count - 1])) < len(sequence.text.encode())


@pytest.mark.parametrize("count", [0, 2])
def test_nothing_is_told_of_tokens_nobody_asked_for(count: int) -> None:
    """Without log-probabilities in the notices there are none in the events."""
    output = Output((), TOKENIZER)

    assert data(output.take(grown("a" * count))) == ("a" * count, [])
    assert output.logprobs == []
