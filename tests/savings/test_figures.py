"""Behaviour of `unmask.savings`: figures as files, and what may be enabled by them."""

import json
from pathlib import Path

import orjson
import pytest

from unmask.savings.errors import FigureError, SavingUnmeasuredError, UnknownSavingError
from unmask.savings.figure_file import digest_of, packaged_figures, read_figures, write_figure
from unmask.savings.record import standing_record
from unmask.savings.registry import SAVINGS
from unmask.savings.result import figures_of
from unmask.savings.standing import KnownSavings, known_figures, require_quality, standings
from unmask.testing.savings import make_figure

RESULTS = Path(__file__).parents[2] / "bench" / "results"


def test_a_figure_is_read_as_it_was_written(tmp_path: Path) -> None:
    """One's own counts over the package's, and names differ from registry to registry in no order."""
    figure = make_figure("early_exit", items=7)
    write_figure(tmp_path / "savings", figure)
    by_name = {found.saving: found for found in known_figures(tmp_path)}

    assert by_name["early_exit"] == figure
    assert by_name["bfloat16"] in packaged_figures()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"items": 501}, "digest differs"),
        ({"saved": {"value": 0.3, "low": 0.4, "high": 0.5}}, "have to rise"),
        ({"quality": None}, "quality"),
        ({"extra": 1}, "extra"),
        ({"saving": "int8"}, "holds a figure of int8"),
    ],
)
def test_a_figure_that_was_tampered_with_is_refused(tmp_path: Path, change: dict[str, object], told: str) -> None:
    """The message names the file and what is wrong with it."""
    path = write_figure(tmp_path, make_figure())
    document = json.loads(path.read_bytes())
    document["figure"] |= change
    path.write_bytes(orjson.dumps(document))

    with pytest.raises(FigureError, match=told) as error:
        read_figures((tmp_path,))
    assert str(path) in error.value.message


def test_digest_is_of_what_a_figure_says() -> None:
    """Each field counts."""
    assert len({digest_of(make_figure()), digest_of(make_figure(items=1)), digest_of(make_figure("int8"))}) == 3


def test_a_saving_without_a_figure_cannot_be_enabled() -> None:
    """The error names the saving, its quality metric and what measures it; one that is unknown is refused too."""
    require_quality("confidence_stop", [make_figure()], place="a test")
    with pytest.raises(SavingUnmeasuredError, match=r"a test enables the saving routing.*unmask bench layers"):
        require_quality("routing", [make_figure()], place="a test")
    with pytest.raises(UnknownSavingError, match="'magic' is no saving, allowed: early_exit"):
        require_quality("magic", [make_figure()], place="a test")


def test_what_is_saved_is_never_told_without_its_quality() -> None:
    """Every saving is told of; its figure has both with their intervals, or is not there."""
    known = KnownSavings(figures=(make_figure(),), enabled={"confidence_stop": ("confidence_stop",)})
    records = [standing_record(one) for one in standings(known, suspended={"prompt_refinement": ("sort",)})]
    by_name = {record["name"]: record for record in records}

    assert list(by_name) == [saving.name for saving in SAVINGS]
    assert by_name["routing"]["figure"] is None
    assert by_name["prompt_refinement"]["suspended_for"] == ["sort"]
    figure = by_name["confidence_stop"]["figure"]
    assert isinstance(figure, dict)
    assert figure["saved"] == {"value": 0.33, "low": 0.3, "high": 0.36}
    assert figure["quality_difference"] == {"value": 0.0, "low": -0.004, "high": 0.004}


@pytest.mark.parametrize("name", ["policy", "engine"])
def test_the_packages_figures_are_what_its_benches_found(name: str) -> None:
    """A bench that is run anew brings its figures with it."""
    found = figures_of((RESULTS / f"{name}.json").read_bytes(), measured="2026-11-30")
    packaged = {figure.saving: figure for figure in packaged_figures()}

    for figure in found:
        kept = packaged[figure.saving]
        assert (kept.saved, kept.quality, kept.items, kept.commit) == (
            figure.saved,
            figure.quality,
            figure.items,
            figure.commit,
        )


def result(**changes: object) -> bytes:
    """Return the results of a bench that measures one saving."""
    figures = [
        {"name": "int8.saved", "value": 0.4, "low": 0.3, "high": 0.5, "n": 10},
        {"name": "int8.quality_difference", "value": 0.0, "low": -0.1, "high": 0.1, "n": 10},
    ]
    fields = {"bench": "layers", "machine": "m", "commit": None, "model": "tiny", "model_digest": "d", "seed": 0}
    return orjson.dumps(fields | {"quick": False, "figures": figures} | changes)


def test_results_become_figures() -> None:
    """Of one bench or of several; what they have of other savings is left alone."""
    (figure,) = figures_of(result(), measured="2026-11-30")
    together = b'{"benches": [' + result() + b"]}"

    assert (figure.saving, figure.saved.low, figure.quality.high, figure.items) == ("int8", 0.3, 0.1, 10)
    assert figures_of(together, measured="2026-11-30") == (figure,)


def test_what_is_counted_needs_no_interval_and_its_quality_does() -> None:
    """Bytes are not sampled; right answers are."""
    saved = {"name": "int4.memory_saving", "value": 0.4, "low": None, "high": None, "n": None}
    quality = {"name": "int4.quality_vs_float32", "value": -0.04, "low": -0.07, "high": -0.02, "n": 10}
    (figure,) = figures_of(result(bench="precision", figures=[saved, quality]), measured="2026-11-30")

    assert (figure.saving, figure.saved.low, figure.saved.high, figure.quality.low) == ("int4", 0.4, 0.4, -0.07)
    with pytest.raises(FigureError, match="measure no saving"):
        figures_of(result(bench="precision", figures=[saved, quality | {"low": None}]), measured="2026-11-30")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "no results"),
        (b"[1]", "no results"),
        (b'{"a": 1}', "no results"),
        (result(quick=True), "decide nothing"),
        (result(bench="other"), "measure no saving"),
        (result(figures=[{"name": "int8.saved", "value": 0.4, "low": 0.3, "high": 0.5, "n": 10}]), "measure no saving"),
    ],
)
def test_results_that_are_no_evidence_are_refused(content: bytes, told: str) -> None:
    """A saving alone, without its quality, is no figure."""
    with pytest.raises(FigureError, match=told):
        figures_of(content, measured="2026-11-30")
