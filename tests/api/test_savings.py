"""Behaviour of ``/v1/savings`` and of what `/metrics` says of savings."""

from tests.api.client import client_of, make_app
from tests.metrics.reading import parse
from unmask.control.parts import ControlParts
from unmask.savings.standing import KnownSavings
from unmask.testing.savings import make_figure

KNOWN = KnownSavings(figures=(make_figure(),), enabled={"confidence_stop": ("confidence_stop",)})


async def test_savings_are_told_with_their_quality() -> None:
    """In one answer and in the metrics; one that is not measured has neither."""
    async with client_of(make_app(parts=ControlParts(savings=KNOWN))) as client:
        body = (await client.get("/v1/savings")).json()
        metrics = parse((await client.get("/metrics")).text)
    by_name = {entry["name"]: entry for entry in body["data"]}

    stop = by_name["confidence_stop"]
    assert (stop["enabled_by"], stop["figure"]["quality_difference"]["low"]) == (["confidence_stop"], -0.004)
    assert by_name["routing"]["figure"] is None
    assert metrics["unmask_saving_enabled{saving=confidence_stop}"] == 1
    assert metrics["unmask_saving_ratio{end=low,saving=confidence_stop}"] == 0.3
    assert metrics["unmask_saving_quality_difference{end=high,saving=confidence_stop}"] == 0.004
    assert "unmask_saving_ratio{end=low,saving=routing}" not in metrics
