"""A model behind its core: it does what its weights can, and only belongs to its own tokenizer."""

from dataclasses import replace

import pytest

from unmask.engine.runner import Runner
from unmask.engine.weights import LoadedModel
from unmask.errors import ConfigError, WeightsError
from unmask.local import model as model_module
from unmask.local.model import EMBEDDED_ADAPTER, make_core, serve_model
from unmask.sched.settings import SchedSettings
from unmask.strategy import StrategyName
from unmask.testing.cores import run_all
from unmask.testing.fake_runner import FakeRunner
from unmask.testing.learned import make_choice
from unmask.testing.manual_clock import ManualClock
from unmask.testing.networks import TINY_SHAPE, letter, make_network
from unmask.testing.submissions import make_submission
from unmask.text.tokenizer import SPECIALS, Special, packaged_tokenizer
from unmask.types import Draft, Outcome, Precision

TOKENIZER = packaged_tokenizer()
SHAPE = replace(TINY_SHAPE, vocabulary=TOKENIZER.size)


def test_a_served_model_answers_in_text() -> None:
    """Network, tokenizer and core together run a request, and draw neither masks nor role tokens."""
    loaded = LoadedModel(name="tiny", digest="0" * 16, network=make_network(SHAPE, ending=0.0))
    served = serve_model(loaded, TOKENIZER, SchedSettings(pages=32, page_size=8), ManualClock())
    (sequence,) = run_all(served.core, [make_submission((9, 10, 11), max_tokens=32, canvas_length=32)])

    assert sequence.outcome is Outcome.COMPLETED
    assert all(token >= SPECIALS or token == Special.END for token in sequence.output)
    assert sequence.text == TOKENIZER.decode(sequence.output)


def test_a_draft_is_built_upon() -> None:
    """Frozen tokens of a draft are in the answer where they stood, and what was open is filled."""
    loaded = LoadedModel(name="tiny", digest="0" * 16, network=make_network(SHAPE, ending=0.0))
    served = serve_model(loaded, TOKENIZER, SchedSettings(pages=32, page_size=8), ManualClock())
    draft = Draft(tokens=(50, None, 51, None, 52), frozen=frozenset({0, 2, 4}))
    submissions = [
        make_submission((9, 10, 11), max_tokens=8, draft=draft, strategy=make_choice(name, 2.0))
        for name in StrategyName
    ]
    for sequence in run_all(served.core, submissions):
        assert [sequence.output[place] for place in (0, 2, 4)] == [50, 51, 52]
        assert len(sequence.output) == 8


def test_its_description_is_that_of_its_weights() -> None:
    """Limits come from the network's shape: no more steps than the longest canvas has positions."""
    loaded = LoadedModel(name="tiny", digest="0" * 16, network=make_network(SHAPE))
    info = serve_model(loaded, TOKENIZER, SchedSettings(pages=32, page_size=8), ManualClock()).info

    assert (info.name, info.digest, info.context_length, info.canvas_lengths) == ("tiny", "0" * 16, 256, (8, 16, 32))
    assert (info.default_canvas_length, info.max_steps, info.default_steps) == (32, 32, 32)
    assert info.is_deterministic
    assert info.parameters == sum(parameter.numel() for parameter in loaded.network.parameters())


def test_weights_of_another_vocabulary_are_refused() -> None:
    """Ids that mean something else to the tokenizer would be served as nonsense."""
    loaded = LoadedModel(name="odd", digest="0" * 16, network=make_network())

    with pytest.raises(WeightsError, match=f"'odd' know 64 tokens and the tokenizer {TOKENIZER.size}"):
        serve_model(loaded, TOKENIZER, SchedSettings(pages=4), ManualClock())


@pytest.mark.parametrize("can", [True, False])
@pytest.mark.parametrize("wanted", [True, False])
def test_settings_ask_for_no_more_than_the_model_can(can: bool, wanted: bool) -> None:
    """Fusing and caching happen where both the settings want it and the adapter can."""
    adapter = replace(EMBEDDED_ADAPTER, exact_cache=can, fused_prefill=can, fused_commit=can)
    settings = SchedSettings(pages=4, prefix_cache=wanted, fused_prefill=wanted, fused_commit=wanted)
    possible = make_core(FakeRunner(), letter, settings, ManualClock(), adapter=adapter).batcher.settings

    assert {possible.prefix_cache, possible.fused_prefill, possible.fused_commit} == {can and wanted}


@pytest.mark.parametrize("precision", Precision)
def test_more_pages_than_memory_are_a_setting_at_fault(precision: Precision, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the setting and the bytes it asks for, not a line of an allocator."""

    def no_memory(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory\nsomewhere")

    monkeypatch.setattr(model_module, "Runner", no_memory)
    loaded = LoadedModel(name="tiny", digest="0" * 16, network=make_network(SHAPE))
    size = size_of_pages(256, precision)
    with pytest.raises(ConfigError, match=f"page_pool_tokens is 256, .* {size} bytes") as caught:
        serve_model(loaded, TOKENIZER, SchedSettings(pages=32, page_size=8), ManualClock(), precision=precision)

    assert caught.value.param == "page_pool_tokens"
    assert "\n" not in caught.value.message


def size_of_pages(tokens: int, precision: Precision) -> int:
    """Return the bytes of keys and values."""
    return Runner(make_network(SHAPE), pages=tokens - 1, page_size=1, precision=precision)._pool.nbytes
