"""Alerts before pages run out."""

from hypothesis import given
from hypothesis import strategies as st

from unmask.sched.watermark import RELIEF, WATERMARKS, alert_at, is_worse
from unmask.work import PageAlert


def alerts_of(*usages: float) -> list[PageAlert]:
    """Return the alert at each use of a sequence."""
    alert, found = PageAlert.NONE, []
    for usage in usages:
        alert = alert_at(usage, alert)
        found.append(alert)
    return found


def test_each_watermark_gives_its_alert_and_takes_it_back_below() -> None:
    """Both up and down, the critical one first."""
    none, high, critical = PageAlert

    assert alerts_of(0.79, 0.8, 0.94, 0.95, 0.86, 0.85, 0.71, 0.7) == [
        none, high, high, critical, critical, high, high, none,
    ]  # fmt: skip
    assert alerts_of(1.0, 0.0) == [critical, none]


@given(
    mark=st.sampled_from([mark for _, mark in WATERMARKS]), wobble=st.floats(0, RELIEF * 0.99), count=st.integers(1, 9)
)
def test_use_around_a_mark_is_one_alert(mark: float, wobble: float, count: int) -> None:
    """Requests that come and go there are no news."""
    found = alerts_of(*[mark, mark - wobble] * count)

    assert len(set(found)) == 1


@given(usage=st.floats(0, 1), before=st.sampled_from(PageAlert))
def test_more_use_is_never_less_of_an_alert(usage: float, before: PageAlert) -> None:
    """From the same alert."""
    assert not is_worse(alert_at(usage / 2, before), alert_at(usage, before))
