"""What a model may be called by, and what of it is looked for where."""

from pathlib import Path

import pytest

from unmask.local.places import Repository, place_of, served_name


@pytest.mark.parametrize("model", ["tiny", "nano", "no-such"])
def test_bare_names_are_the_packages(model: str) -> None:
    """They have no place of their own."""
    assert place_of(model) is None
    assert served_name(model) == model


@pytest.mark.parametrize(("model", "name"), [("./here", "here"), ("/a/b/LLaDA-8B", "LLaDA-8B"), ("../x/", "x")])
def test_paths_are_folders(model: str, name: str) -> None:
    """Whether or not anything is there: a slip in a path downloads nothing."""
    assert place_of(model) == Path(model)
    assert served_name(model) == name


def test_what_is_there_is_not_looked_for_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder goes before a repository of the same name, even one that was not downloaded to its end."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "owner" / "model").mkdir(parents=True)
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "config.json").touch()

    assert place_of("owner/model") == Path("owner/model")
    assert place_of("bare") == Path("bare")


def test_repositories_may_name_a_revision() -> None:
    """Without one it is the newest."""
    assert place_of("Owner/Model-8B") == Repository(id="Owner/Model-8B", revision=None)
    assert place_of("Owner/Model-8B@v1.0") == Repository(id="Owner/Model-8B", revision="v1.0")
    assert served_name("Owner/Model-8B@v1.0") == "Model-8B"
