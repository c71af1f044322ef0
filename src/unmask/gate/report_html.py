"""A decision as one page that needs nothing else: verdict, rows with pictures, then every answer as it came."""

import base64
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unmask.gate.answers import Answer, State
from unmask.gate.picture import picture_of
from unmask.gate.report_words import (
    basis_text,
    bound_to,
    headline,
    interval_text,
    paired_text,
    system_text,
    verdict_text,
)
from unmask.gate.scenario import ScenarioKind
from unmask.gate.verdict import GateReport


def report_html(report: GateReport, answers: Sequence[Answer]) -> str:
    """Return a page; whatever stands in answers, facts or votes is text and never markup.

    The page's policy allows one script, by its digest, and nothing from elsewhere.
    """
    folder = files("unmask.gate") / "templates"
    script = (folder / "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    page = _environment().get_template("report.html")
    return page.render(
        report=report,
        answers=answers,
        script=Markup(script),  # noqa: S704 - the package's own file
        style=Markup((folder / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - the package's own file
        script_digest=digest,
        states=tuple(State),
        kinds=tuple(ScenarioKind),
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("unmask.gate", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        headline=headline,
        interval_text=interval_text,
        basis_text=basis_text,
        verdict_text=verdict_text,
        paired_text=paired_text,
        system_text=system_text,
        bound_to=bound_to,
        picture_of=picture_of,
    )
    return environment
