"""Behaviour of `unmask.config.example`."""

import re
from pathlib import Path

from unmask.config import Settings
from unmask.config.example import example_file
from unmask.config.keys import settings_keys
from unmask.config.load import Source, load_settings
from unmask.savings.figure_file import write_figure
from unmask.testing.savings import make_figure
from unmask.types import Precision


def test_example_loads_as_it_is(tmp_path: Path) -> None:
    """Everything is commented out, so nothing is set."""
    path = tmp_path / "unmask.toml"
    path.write_text(example_file(), encoding="utf-8")
    loaded = load_settings(flags={}, environ={}, file=path)

    assert {origin.source for origin in loaded.origins.values()} == {Source.DEFAULT}


def test_example_shows_every_setting_at_its_default(tmp_path: Path) -> None:
    """Without the marks it loads too; only the settings that TOML cannot write as empty differ."""
    path = tmp_path / "unmask.toml"
    path.write_text(re.sub(r"(?m)^#(?=\w)", "", example_file()), encoding="utf-8")
    write_figure(tmp_path / "unmask" / "savings", make_figure("routing"))
    loaded = load_settings(flags={}, environ={"XDG_STATE_HOME": str(tmp_path)}, file=path)

    assert {origin.source for origin in loaded.origins.values()} == {Source.FILE}
    assert loaded.settings == Settings(
        threads=1,
        page_pool_tokens=256,
        precision=Precision.FLOAT32,
        remote="remote",
        routes="routes",
        promotion_gate="promotion_gate",
        approximate_cache_refresh=1,
        policy_dir="policy",
        database="database",
        prices="prices",
        pepper_file="pepper_file",
        otlp_endpoint="http://127.0.0.1:4318",
        cache_embeddings="bge-m3@http://127.0.0.1:8001/v1",
        reward_url="http://127.0.0.1:4318",
        reward_key_env="reward_key_env",
        reward_key_file="reward_key_file",
    )


def test_example_explains_every_setting() -> None:
    """Meaning and what is allowed stand above each line."""
    text = " ".join(re.sub(r"(?m)^## ", "", example_file()).split())

    for key in settings_keys():
        assert f"{key.setting.meaning} Allowed: {key.allowed}." in text
