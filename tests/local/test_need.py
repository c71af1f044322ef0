"""What memory a checkpoint needs, and what is said where there is not as much."""

import pytest
import torch

from tests.engine.families.published import Published
from unmask.engine.families.family import Description
from unmask.engine.families.registry import family_of
from unmask.errors import ConfigError
from unmask.local.need import MemoryNeed, check_fits, memory_need, weight_bytes
from unmask.sched.settings import SchedSettings
from unmask.types import ApproximateCache, ApproximateKv, Precision

CPU = torch.device("cpu")
SDAR_8B = {
    "architectures": ["SDARForCausalLM"],
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 36,
    "head_dim": 128,
    "intermediate_size": 12288,
    "vocab_size": 151936,
    "max_position_embeddings": 32768,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1e6,
}


@pytest.fixture
def sdar() -> Description:
    """The published sizes of SDAR-8B."""
    return family_of(SDAR_8B).describe(SDAR_8B)


def test_weights_are_those_of_the_published_files(sdar: Description) -> None:
    """The published index of SDAR-8B says 16,381,470,720 bytes in bfloat16."""
    assert memory_need(sdar, SchedSettings(), Precision.BFLOAT16).weights == 16_381_470_720
    assert memory_need(sdar, SchedSettings(), Precision.FLOAT32).weights == 2 * 16_381_470_720


def test_weights_of_whole_numbers_take_less(sdar: Description) -> None:
    """Of 6.9 billion parameters in layers; embedding and head stay in half precision."""
    outside = 2 * 2 * 151_936 * 4_096
    layers = 16_381_470_720 - outside

    assert weight_bytes(sdar, Precision.INT8) - outside == pytest.approx(layers / 2, rel=0.01)
    assert weight_bytes(sdar, Precision.INT4) - outside == pytest.approx(layers * 5 / 16, rel=0.01)


def test_pages_hold_keys_and_values_and_ids(sdar: Description) -> None:
    """Of 36 layers, eight heads of 128 numbers each, twice, and eight bytes an id."""
    need = memory_need(sdar, SchedSettings(pages=10, page_size=32), Precision.BFLOAT16)

    assert need.pages == 320 * (8 + 36 * 2 * 8 * 128 * 2)


def test_approximate_caches_take_pages() -> None:
    """Where all positions see all, pages hold ids alone without one, and as much as any other model's with one."""
    llada = Published.read("llada").description
    settings, shape = SchedSettings(pages=10, page_size=32), llada.shape
    kept = shape.layers * shape.kept * 4

    assert memory_need(llada, settings, Precision.FLOAT32).pages == 320 * 8
    approximate = ApproximateKv(cache=ApproximateCache.DUAL)
    assert memory_need(llada, settings, Precision.FLOAT32, approximate).pages == 320 * (8 + kept)


def test_what_does_not_fit_is_refused_with_the_numbers() -> None:
    """Weights, pages, forward, all together and what is free."""
    need = MemoryNeed(weights=16 << 30, pages=2 << 30, forward=1 << 30)
    check_fits("big", need, 19 << 30, CPU, Precision.BFLOAT16)
    check_fits("big", need, None, CPU, Precision.BFLOAT16)
    with pytest.raises(ConfigError) as caught:
        check_fits("big", need, (19 << 30) - 1, CPU, Precision.BFLOAT16)
    expected = "about 19.00 GiB: 16.00 GiB of weights in bfloat16, 2.00 GiB of pages and 1.00 GiB in a full forward"
    assert expected in caught.value.message
    assert "19.00 GiB are free on cpu" in caught.value.message
    assert caught.value.param == "models"
