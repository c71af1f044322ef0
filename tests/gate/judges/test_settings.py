"""Files of judges."""

from pathlib import Path

import pytest

from unmask.clock import SystemWallClock
from unmask.gate.judges.errors import JudgeError
from unmask.gate.judges.opening import open_judge
from unmask.gate.judges.rubric import load_rubric
from unmask.gate.judges.settings import Api, read_panel

GOOD = """
judges:
  - {name: sonnet, api: anthropic, model: claude, url: "https://api.example", key_env: SONNET_KEY}
  - {name: aws, api: bedrock, model: anthropic.claude, region: ap-northeast-2}
votes: 5
"""


def written(folder: Path, text: str) -> Path:
    """Write a judge file."""
    path = folder / "judge.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_judges(tmp_path: Path) -> None:
    """Judges, votes and the package's rubric; votes may be given instead."""
    panel = read_panel(written(tmp_path, GOOD))

    assert [judge.api for judge in panel.judges] == [Api.ANTHROPIC, Api.BEDROCK]
    assert (panel.votes, panel.rubric) == (5, load_rubric())
    assert read_panel(written(tmp_path, GOOD), 2).votes == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("api: anthropic", "api: telepathy", "api"),
        (', url: "https://api.example"', "", "has a url"),
        (", region: ap-northeast-2", "", "has a region"),
        ("name: aws", "name: sonnet", "sonnet is there twice"),
        ("votes: 5", "votes: 0", "votes is 0"),
        ("key_env:", "key:", "key is no field"),
    ],
)
def test_misfits_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    """An unknown key, such as one with a secret in it, is refused before anything is asked."""
    with pytest.raises(JudgeError, match=said):
        read_panel(written(tmp_path, GOOD.replace(old, new)))


def test_a_rubric_is_relative_to_the_file(tmp_path: Path) -> None:
    """And one that is not there is an error."""
    with pytest.raises(JudgeError, match=r"mine\.yaml"):
        read_panel(written(tmp_path, GOOD + "rubric: mine.yaml\n"))


def test_a_key_that_is_not_set_is_an_error_that_names_the_variable(tmp_path: Path) -> None:
    """And nothing is asked without it."""
    judge = read_panel(written(tmp_path, GOOD)).judges[0]

    with pytest.raises(JudgeError, match="judge sonnet: the environment variable SONNET_KEY is not set"):
        open_judge(judge, {}, SystemWallClock())
