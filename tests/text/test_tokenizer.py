"""The tokenizer: lossless, blind to typed special tokens, stable over a conversation's turns."""

import json
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import WeightsError
from unmask.text.tokenizer import SPECIALS, Special, TextTokenizer, packaged_tokenizer
from unmask.types import Message, Role

TOKENIZER = packaged_tokenizer()
SAMPLES = (
    "카로렌은 미벤에 살아요. 안녕하세요!",
    "מזל טוב",
    "\u202eمرحبا بالعالم\u202c ١٢٣",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f600",
    "e\u0301 \u00e9 ﬁ ß İ",
    "\x00\x01\x7f\u2028\ufeff\uffff",
    " leading, trailing  and   runs \t\r\n\n",
    "Kaloren's don't_stop 3.14",
    "<mask><end><|im_start|>[MASK]</s>",
)

any_text = st.text(st.characters(codec="utf-8"), max_size=80)
messages = st.lists(st.builds(Message, role=st.sampled_from(Role), content=any_text), min_size=1, max_size=5)


@given(text=any_text)
def test_any_text_comes_back(text: str) -> None:
    """Decoding what was encoded returns the text, whatever the script."""
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@pytest.mark.parametrize("text", SAMPLES)
def test_samples_of_many_scripts_come_back(text: str) -> None:
    """Hangul, right-to-left scripts, emoji, combining and control characters are kept to the letter."""
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(text=any_text)
def test_text_never_makes_special_tokens(text: str) -> None:
    """Every id of text is at or above `SPECIALS` and below the size."""
    assert all(SPECIALS <= token < TOKENIZER.size for token in TOKENIZER.encode(text))


@pytest.mark.parametrize(
    "typed", ["<mask>", "<end>", "<user>", "[MASK]", "</s>", "<|assistant|>", "Special.MASK", "\x00"]
)
def test_typed_special_tokens_are_ordinary_text(typed: str) -> None:
    """A user who types the name of a special token has typed text."""
    tokens = TOKENIZER.encode_chat((Message(role=Role.USER, content=typed),))
    assert tokens[0] == Special.USER
    assert tokens[-1] == Special.ASSISTANT
    assert all(token >= SPECIALS for token in tokens[1:-1])


@given(digits=st.text("0123456789", min_size=1, max_size=30))
def test_digits_stand_alone(digits: str) -> None:
    """A number has as many tokens as digits, so that arithmetic sees them all."""
    assert [TOKENIZER.decode([token]) for token in TOKENIZER.encode(digits)] == list(digits)


@given(text=any_text)
def test_special_tokens_have_no_text(text: str) -> None:
    """Decoding leaves special tokens out."""
    tokens = TOKENIZER.encode(text)
    assert TOKENIZER.decode([Special.MASK, *tokens, Special.END]) == text


@given(messages=messages, question=any_text, answer=any_text)
def test_a_conversation_goes_on_from_its_own_prefix(messages: list[Message], question: str, answer: str) -> None:
    """A turn's prompt and answer are the beginning of the next turn's prompt, so that its pages can be kept."""
    first = TOKENIZER.encode_chat(messages)
    said = (Message(role=Role.ASSISTANT, content=answer), Message(role=Role.USER, content=question))
    second = TOKENIZER.encode_chat([*messages, *said])
    committed = [*first, *TOKENIZER.encode(answer), Special.END]
    assert second[: len(committed)] == committed


@given(messages=messages)
def test_the_length_of_a_chat_is_that_of_its_prompt(messages: list[Message]) -> None:
    """What difficulty is estimated from, in tuning and in serving."""
    assert TOKENIZER.chat_length(messages) == len(TOKENIZER.encode_chat(messages))


@given(first=messages, second=messages)
def test_different_chats_have_different_prompts(first: list[Message], second: list[Message]) -> None:
    """Roles and borders between messages survive: no two conversations share a prompt."""
    assert (TOKENIZER.encode_chat(first) == TOKENIZER.encode_chat(second)) == (first == second)


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    """What no UTF-8 can hold is replaced, not an error."""
    assert TOKENIZER.decode(TOKENIZER.encode("a\ud83db")) == "a\ufffdb"


def test_half_a_character_decodes_to_a_replacement_character() -> None:
    """A text that is cut inside a character is still text."""
    tokens = TOKENIZER.encode("가")
    assert len(tokens) > 1
    assert TOKENIZER.decode(tokens[:-1]).startswith("\ufffd")


def test_learning_saving_and_loading_agree(tmp_path: Path) -> None:
    """A tokenizer learnt from little text is lossless too, and survives its file."""
    learnt = TextTokenizer.train(["Kaloren home Miven\n" * 20], 300)
    path = tmp_path / "tokenizer.json"
    learnt.save(path)
    loaded = TextTokenizer.load(path)
    assert loaded.size == learnt.size <= 300
    for text in SAMPLES:
        assert loaded.encode(text) == learnt.encode(text)
        assert loaded.decode(loaded.encode(text)) == text


def test_the_packaged_tokenizer_is_loaded_once() -> None:
    """Asking again returns the same object."""
    assert packaged_tokenizer() is TOKENIZER


def packaged_json() -> bytes:
    """Return the packaged file."""
    return files("unmask.text").joinpath("tokenizer.json").read_bytes()


def without_a_byte() -> bytes:
    """Return the packaged file with one byte's id given to something else."""
    raw = json.loads(packaged_json())
    vocabulary = raw["model"]["vocab"]
    vocabulary["nonsense"] = vocabulary.pop("\u0100")
    return json.dumps(raw).encode()


def with_a_word(word: str) -> bytes:
    """Return the packaged file with one more word in its vocabulary."""
    raw = json.loads(packaged_json())
    raw["model"]["vocab"][word] = len(raw["model"]["vocab"])
    return json.dumps(raw).encode()


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[1]", b"\xff\xfe\x00", packaged_json()[:5000], without_a_byte(), with_a_word("가")],
    ids=["empty", "no model", "a list", "no text", "cut short", "a byte missing", "a word of no bytes"],
)
def test_damaged_files_are_a_weights_error(content: bytes, tmp_path: Path) -> None:
    """A file that is no whole tokenizer is refused with its name and what to do."""
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=r"tokenizer\.json.*damaged.*again"):
        TextTokenizer.load(path)


def test_a_missing_file_is_a_weights_error(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(WeightsError, match="nowhere"):
        TextTokenizer.load(tmp_path / "nowhere.json")


def test_a_missing_packaged_file_is_a_weights_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An incomplete installation says so."""
    monkeypatch.setattr(sys.modules["unmask.text.tokenizer"], "files", lambda _package: tmp_path)
    with pytest.raises(WeightsError, match="install the package again"):
        packaged_tokenizer.__wrapped__()


@given(text=any_text)
def test_bytes_of_tokens_join_to_the_text(text: str) -> None:
    """A token is a run of bytes, whatever characters they are parts of."""
    assert b"".join(map(TOKENIZER.token_bytes, TOKENIZER.encode(text))) == text.encode()


@given(st.lists(st.integers(0, TOKENIZER.size - 1), max_size=30))
def test_decoding_is_joining_bytes(tokens: list[int]) -> None:
    """Any ids in any order decode to what their bytes decode to, broken characters included; special ones have none."""
    joined = b"".join(map(TOKENIZER.token_bytes, tokens))

    assert joined.decode("utf-8", errors="replace") == TOKENIZER.decode(tokens)
    assert [TOKENIZER.token_bytes(token) for token in range(SPECIALS)] == [b""] * SPECIALS


def test_every_byte_is_a_token() -> None:
    """The alphabet of the vocabulary tells all 256 apart, those that no UTF-8 holds too."""
    found = {TOKENIZER.token_bytes(token) for token in range(TOKENIZER.size)}

    assert {bytes([byte]) for byte in range(256)} <= found
    assert len(found) == TOKENIZER.size - SPECIALS + 1


def test_no_id_stands_for_more_bytes_than_the_longest() -> None:
    """The length is counted in bytes of UTF-8, whatever the vocabulary is spelt in."""
    tokenizer = packaged_tokenizer()
    sizes = [len(tokenizer.decode([token]).encode()) for token in range(SPECIALS, tokenizer.size)]

    assert tokenizer.longest == max(sizes)
