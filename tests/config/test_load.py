"""Behaviour of `unmask.config.load`: which value wins, and what is said about a wrong one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from unmask.config import Settings
from unmask.config.choices import KeyMode, Switch
from unmask.config.durability import Durability
from unmask.config.keys import settings_keys
from unmask.config.load import Loaded, Source, load_settings
from unmask.errors import ConfigError
from unmask.savings.errors import SavingUnmeasuredError
from unmask.savings.figure_file import write_figure
from unmask.service import Batching
from unmask.testing.savings import make_figure
from unmask.types import ApproximateCache, Device, Precision


def load(
    flags: Mapping[str, str] | None = None, environ: Mapping[str, str] | None = None, file: Path | None = None
) -> Loaded:
    """Load from whichever sources a test is about."""
    return load_settings(flags=flags or {}, environ=environ or {}, file=file)


def toml(folder: Path, text: str) -> Path:
    """Write a settings file."""
    path = folder / "s.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_nothing_given_is_the_defaults() -> None:
    """A server needs no settings."""
    loaded = load(environ={"PATH": "/bin"})

    assert loaded.settings == Settings()
    assert {origin.source for origin in loaded.origins.values()} == {Source.DEFAULT}


def test_precedence(tmp_path: Path) -> None:
    """Flags win over the environment, it over the file, and that over the defaults; each says where it is from."""
    file = toml(tmp_path, "port = 1\nmax_rows = 1\nqueue_limit = 1\n")
    loaded = load({"port": "3"}, {"UNMASK_PORT": "2", "UNMASK_MAX_ROWS": "2"}, file)

    assert loaded.settings == Settings(port=3, max_rows=2, queue_limit=1)
    told = [loaded.origins[name] for name in ("port", "max_rows", "queue_limit")]
    assert [(origin.source, origin.place) for origin in told] == [
        (Source.FLAG, "--port"),
        (Source.ENVIRONMENT, "UNMASK_MAX_ROWS"),
        (Source.FILE, f"{file} line 3"),
    ]
    assert loaded.origins["host"].source is Source.DEFAULT


def test_every_setting_can_come_from_every_source(tmp_path: Path) -> None:
    """One schema: what a file may say, a variable and a flag may say too."""
    values: dict[str, Any] = {key.name: key.default for key in settings_keys()}
    values |= {
        "threads": 2,
        "page_pool_tokens": 4_096,
        "models": ("a", "b"),
        "allowed_hosts": ("example.org",),
        "host": "::1",
    }
    values |= {
        "precision": "bfloat16",
        "extra_precisions": ("int8", "float32"),
        "device": "cpu",
        "remote": "r.yaml",
        "routes": "a.yaml",
        "policy_dir": "p",
        "database": "d",
        "durability": "power",
        "prices": "c",
        "cache": "exact",
        "cache_embeddings": "m@http://h/v1",
    }
    values |= {"prompt_refinement": "off", "confidence_stop": "off"}
    values |= {"approximate_cache": "dual", "approximate_cache_refresh": 4}
    values |= {"promotion_gate": "gate.yaml", "keys": "required", "pepper_file": "q", "tiers": ("flex=night",)}
    values |= {"otlp_endpoint": "http://127.0.0.1:4318", "trace_share": 0.5}
    values |= {"reward_url": "http://127.0.0.1:1/score", "reward_key_env": "K", "reward_key_file": "f"}
    values |= {"batching": "aligned", "page_reserves": ("a=0.5", "b=0.25")}
    texts = {name: ",".join(value) if isinstance(value, tuple) else str(value) for name, value in values.items()}
    lines = [f"{name} = {list(value) if isinstance(value, tuple) else repr(value)}" for name, value in values.items()]

    enums = {
        "device": Device.CPU,
        "precision": Precision.BFLOAT16,
        "durability": Durability.POWER,
        "promotion_gate": "gate.yaml",
        "keys": KeyMode.REQUIRED,
        "batching": Batching.ALIGNED,
        "prompt_refinement": Switch.OFF,
        "confidence_stop": Switch.OFF,
        "approximate_cache": ApproximateCache.DUAL,
    }
    expected = Settings(**values | enums)
    for saving in ("routing", "approximate_cache"):
        write_figure(tmp_path / "unmask" / "savings", make_figure(saving))
    state = {"XDG_STATE_HOME": str(tmp_path)}
    assert load(texts, environ=state).settings == expected
    assert load(texts, environ=state).settings.precision is Precision.BFLOAT16
    assert load(environ=state | {f"UNMASK_{name.upper()}": text for name, text in texts.items()}).settings == expected
    assert load(environ=state, file=toml(tmp_path, "\n".join(lines))).settings == expected


def test_a_saving_is_enabled_by_a_figure_of_its_quality(tmp_path: Path) -> None:
    """Without one the server does not start: the error names the setting, where it stands, and what measures it."""
    environ = {"XDG_STATE_HOME": str(tmp_path), "UNMASK_PRECISION": "int4"}
    with pytest.raises(SavingUnmeasuredError, match=r"UNMASK_PRECISION: precision .*unmask bench") as told:
        load(environ=environ)
    write_figure(tmp_path / "unmask" / "savings", make_figure("int4"))

    assert told.value.param == "precision"
    assert load(environ=environ).settings.precision is Precision.INT4


@pytest.mark.parametrize(
    ("setting", "value", "saving"),
    [
        ("precision", "int4", "int4"),
        ("approximate_cache", "prefix", "approximate_cache"),
    ],
)
def test_every_setting_that_saves_needs_a_figure(tmp_path: Path, setting: str, value: str, saving: str) -> None:
    """Those that came with their own module too."""
    environ = {"XDG_STATE_HOME": str(tmp_path), f"UNMASK_{setting.upper()}": value}
    with pytest.raises(SavingUnmeasuredError, match=f"enables the saving {saving},"):
        load(environ=environ)
    write_figure(tmp_path / "unmask" / "savings", make_figure(saving))

    assert getattr(load(environ=environ).settings, setting) == value


@pytest.mark.parametrize(
    ("setting", "value"),
    [("cache", "semantic"), ("precision", "int8"), ("prompt_refinement", "on"), ("confidence_stop", "on")],
)
def test_settings_whose_savings_ship_with_figures_are_enabled_at_once(tmp_path: Path, setting: str, value: str) -> None:
    """What benches have measured on the shipped weights needs no measurement of one's own."""
    environ = {"XDG_STATE_HOME": str(tmp_path), f"UNMASK_{setting.upper()}": value}

    assert getattr(load(environ=environ).settings, setting) == value


IN_A_FILE = (
    'host = "0.0.0.0"',
    "host = 127",
    "port = -1",
    "port = 65536",
    'port = "8000"',
    "port = true",
    "port = 8000.0",
    'models = ["tiny", "tiny"]',
    'models = [""]',
    "models = [3]",
    'models = "tiny"',
    "models = {tiny = 1}",
    'allowed_hosts = ["http://example.org"]',
    'allowed_hosts = ["example.org:80"]',
    "max_rows = 0",
    "page_pool_tokens = 10",
    "queue_limit = 0",
    "max_body_bytes = 0",
    'precision = "float16"',
    'precision = "BFLOAT16"',
    "precision = 16",
    "precision = true",
    'precision = ["bfloat16"]',
    'keys = "on"',
    "keys = true",
    'pepper_file = ""',
    'tiers = ["flex"]',
    'tiers = ["turbo=batch"]',
    'tiers = ["flex=batch", "flex=night"]',
    'tiers = ["flex=a b"]',
    "threads = 0",
    "threads = 1.5",
    "drain_s = -1",
    "drain_s = nan",
    "drain_s = inf",
    "drain_s = true",
    'drain_s = "30"',
    "header_timeout_s = 0",
)


@pytest.mark.parametrize("line", IN_A_FILE)
def test_bad_value_in_a_file_is_told(tmp_path: Path, line: str) -> None:
    """The message names file and line, the setting, its value and what is allowed; types of a file are strict."""
    name = line.split(maxsplit=1)[0]
    with pytest.raises(ConfigError, match=rf"s\.toml line 2: {name} is .*, allowed: ") as caught:
        load(file=toml(tmp_path, f"# first\n{line}\n"))

    assert caught.value.param == name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("port", "x"),
        ("port", ""),
        ("port", "8000.5"),
        ("port", "9" * 5000),
        ("threads", "many"),
        ("precision", ""),
        ("precision", "float64"),
        ("precision", "float32,bfloat16"),
        ("drain_s", "nan"),
        ("drain_s", "1e999"),
        ("models", ""),
        ("models", "tiny,,nano"),
        ("models", "tiny,tiny"),
        ("host", "example.org"),
    ],
)
def test_bad_text_is_told(name: str, text: str) -> None:
    """From a variable or a flag the message names that, and long values are shortened."""
    with pytest.raises(ConfigError, match=rf"^UNMASK_{name.upper()}: {name} is .*, allowed: ") as variable:
        load(environ={f"UNMASK_{name.upper()}": text})
    flag = "--model" if name == "models" else f"--{name.replace('_', '-')}"
    with pytest.raises(ConfigError, match=rf"^{flag}: {name} is .*, allowed: "):
        load({name: text})

    assert variable.value.param == name
    assert len(variable.value.message) < 400


def test_other_host_is_refused_with_the_reason() -> None:
    """Without keys nobody else may reach the server, and the message says what to do."""
    with pytest.raises(ConfigError, match=r"--host: host is .* set keys to required .*unmask keys create") as caught:
        load({"host": "0.0.0.0"})  # noqa: S104 - refused

    assert caught.value.param == "host"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5"])  # noqa: S104 - with keys
def test_with_keys_any_address_may_be_listened_on(host: str) -> None:
    """Keys may come from another place than the address; a name could turn out to be anything."""
    assert load({"host": host}, environ={"UNMASK_KEYS": "required"}).settings.host == host
    with pytest.raises(ConfigError, match=r"host is 'example\.org', allowed: 127"):
        load({"host": "example.org", "keys": "required"})


@pytest.mark.parametrize(("name", "meant"), [("prot", "port"), ("max_row", "max_rows"), ("drain-s", "drain_s")])
def test_unknown_name_in_a_file_is_refused(tmp_path: Path, name: str, meant: str) -> None:
    """A misspelt setting is not ignored: line, close name and all names are told."""
    with pytest.raises(ConfigError) as caught:
        load(file=toml(tmp_path, f"\n{name} = 1\n"))

    assert f"s.toml line 2: '{name}' is no setting, did you mean {meant}? Allowed: host, port, " in str(caught.value)
    assert caught.value.param == name


def test_table_in_a_file_is_refused(tmp_path: Path) -> None:
    """Settings stand at the top, and the message says so."""
    with pytest.raises(ConfigError, match=r"'server' is no setting\. Settings stand in no tables\. Allowed: "):
        load(file=toml(tmp_path, "[server]\nport = 1\n"))


@pytest.mark.parametrize("name", ["UNMASK_PROT", "UNMASK_port", "UNMASK_", "UNMASK_MODEL"])
def test_unknown_variable_is_refused(name: str) -> None:
    """So is a misspelt variable of our prefix; others are not ours to judge."""
    with pytest.raises(ConfigError, match=f"^environment: '{name}' is no setting.* Allowed: UNMASK_HOST, ") as caught:
        load(environ={name: "1", "XUNMASK_PROT": "1"})

    assert caught.value.param == name


def test_close_variable_is_suggested() -> None:
    """The suggestion is a variable too."""
    with pytest.raises(ConfigError, match=r"did you mean UNMASK_PORT\?"):
        load(environ={"UNMASK_PROT": "1"})


@pytest.mark.parametrize("name", ["UNMASK_PORT", "UNMASK_PORT_8000_TCP"])
def test_variables_of_kubernetes_are_explained(name: str) -> None:
    """A Service called unmask fills the environment of every pod beside it; the message says how to stop that."""
    with pytest.raises(ConfigError, match=r"Kubernetes .*`enableServiceLinks: false`"):
        load(environ={name: "tcp://10.0.0.1:8000", "UNMASK_SERVICE_HOST": "10.0.0.1"})


def test_first_unknown_name_comes_before_wrong_values(tmp_path: Path) -> None:
    """A misspelt name is told first, since a value may be wrong because of it."""
    with pytest.raises(ConfigError, match="'prot' is no setting"):
        load(file=toml(tmp_path, "port = -1\nprot = 1\n"))
