"""What ``unmask policy show`` says of how classes share the machine."""

from unmask.cli.policy_tables import _shares
from unmask.testing.budget_policies import make_class_policy, make_policy


def test_classes_with_terms_of_their_own_are_shown() -> None:
    """A class that leaves all of them out has no row, and without any row there is no table."""
    classes = (
        make_class_policy(deadline_s=5.0, weight=8.0, smaller_bucket=True),
        make_class_policy("batch", min_share=0.25),
        make_class_policy("night", quality_floor=4),
        make_class_policy("plain"),
    )
    table = _shares(make_policy(classes=classes))
    cells = list(zip(*(column.cells for column in table.columns), strict=True))

    assert cells == [
        ("interactive", "8", "0", "1", "5 s", "smaller bucket", ""),
        ("batch", "1", "0.25", "1", "whenever", "", ""),
        ("night", "1", "0", "1", "whenever", "", "quality level 4 at the lowest"),
    ]
    assert _shares(make_policy()).row_count == 0
