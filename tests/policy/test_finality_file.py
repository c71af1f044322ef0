"""Behaviour of `unmask.policy.finality_file`."""

from dataclasses import replace

import orjson
import pytest

from unmask.errors import ConfigError
from unmask.policy.finality_file import finality_bytes, read_finality
from unmask.policy.parts import canonical_part
from unmask.testing.learned import make_finality_model


@pytest.mark.parametrize("hidden", [False, True])
def test_model_is_read_as_it_was_written(hidden: bool) -> None:
    """All but the version, which is the first digits of the digest that names the part."""
    model = make_finality_model(hidden=hidden)
    content = finality_bytes(model)
    found = read_finality(content)

    assert replace(found, version=model.version) == model
    assert canonical_part(content)[0].startswith(found.version)
    assert len(found.version) == 16


def test_another_model_has_another_version() -> None:
    """Whatever number it is that differs."""
    first, second = (read_finality(finality_bytes(make_finality_model(bias=bias))) for bias in (0.1, 0.2))
    assert first.version != second.version


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "other"}, "format"),
        ({"more": 1}, "more"),
        ({"bias": None}, "bias"),
        ({"features": ["log_odds"]}, "other features"),
        ({"weights": [1.0]}, "features there are"),
        ({"threshold": 1.5}, "probability"),
        ({"scale": [0.0] * len(make_finality_model().scale)}, "divides by 0"),
    ],
)
def test_what_is_no_model_is_refused(change: dict[str, object], said: str) -> None:
    """With the field or the fault, and how to make it anew."""
    content = orjson.loads(finality_bytes(make_finality_model())) | change
    with pytest.raises(ConfigError, match=said) as caught:
        read_finality(orjson.dumps(content))
    assert "unmask tune finality" in caught.value.message


def test_what_is_no_json_is_refused() -> None:
    """A file cut short, for one."""
    with pytest.raises(ConfigError, match="finality model"):
        read_finality(finality_bytes(make_finality_model())[:40])
