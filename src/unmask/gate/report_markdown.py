"""A decision as Markdown, for a pull request."""

import re
from collections.abc import Sequence

from unmask.gate.picture import drawn
from unmask.gate.report_words import basis_text, bound_to, headline, interval_text, paired_text, verdict_text
from unmask.gate.verdict import GateReport

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")


def report_markdown(report: GateReport) -> str:
    """Return a decision as Markdown; texts of the gate file and of names are text, never markup."""
    lines = [f"## Gate: {plain(headline(report))}", ""]
    lines += [f"> **Note:** {plain(warning)}" for warning in report.warnings]
    lines += ["", *table(("row", "verdict", "condition", "figure", "", "rests on", "why"), _rows(report)), ""]
    paired = [
        (plain(result.row.name), plain(paired_text(result.paired)))
        for result in report.rows
        if result.paired is not None
    ]
    if paired:
        lines += [
            "### Against",
            "",
            *table(("row", "model less against"), paired),
        ]
        lines.append("")
    lines += ["<details><summary>Reasons and what this is bound to</summary>", ""]
    lines += [f"- **{plain(result.row.name)}**: {plain(result.row.reason)}" for result in report.rows]
    lines += ["", *table(("bound to", ""), [(plain(name), plain(value)) for name, value in bound_to(report)])]
    return "\n".join([*lines, "", "</details>", ""])


def plain(text: str) -> str:
    """Write text so that Markdown shows it as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("\\<", "&lt;").replace("\\>", "&gt;")


def _rows(report: GateReport) -> list[tuple[str, ...]]:
    return [
        (
            plain(result.row.name),
            f"**{result.verdict}**",
            plain(result.row.words),
            plain(interval_text(result.interval, result.row.metric)),
            f"`{drawn(result, 16).replace('|', '¦')}`",
            plain(basis_text(result)),
            plain(verdict_text(result)),
        )
        for result in report.rows
    ]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose cells are Markdown already."""
    return [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]
