"""A decision as JUnit XML, which continuous integration shows: a test case a row."""

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from unmask.gate.report_words import basis_text, bound_to, headline, interval_text, paired_text, verdict_text
from unmask.gate.verdict import GateReport, RowResult, Verdict

_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, even escaped."""


def report_junit(report: GateReport, *, skip_inconclusive: bool = False) -> str:
    """Return a decision as XML.

    INCONCLUSIVE is a failure of type ``inconclusive``, since nothing was shown; with ``skip_inconclusive`` a skipped
    case. A decision that decides nothing has all its rows skipped.
    """
    failed = [result for result in report.rows if _failure(report, result, skip=skip_inconclusive) == "failure"]
    skipped = [result for result in report.rows if _failure(report, result, skip=skip_inconclusive) == "skipped"]
    suite = Element(
        "testsuite",
        name=_fit(f"unmask gate {report.binding.family}"),
        tests=str(len(report.rows)),
        failures=str(len(failed)),
        errors="0",
        skipped=str(len(skipped)),
        timestamp=_fit(report.decided),
    )
    properties = SubElement(suite, "properties")
    for name, value in (("verdict", headline(report)), *bound_to(report)):
        SubElement(properties, "property", name=_fit(name), value=_fit(value))
    for result in report.rows:
        case = SubElement(suite, "testcase", classname=_fit(f"gate.{report.binding.family}"), name=result.row.name)
        kind = _failure(report, result, skip=skip_inconclusive)
        if kind is not None:
            message = _fit(f"{result.verdict}: {verdict_text(result)}")
            type_ = "failure" if result.verdict is Verdict.FAIL else "inconclusive"
            attributes = {"message": message} if kind == "skipped" else {"message": message, "type": type_}
            SubElement(case, kind, attributes).text = _fit(_details(result))
        SubElement(case, "system-out").text = _fit(_details(result))
    root = Element("testsuites")
    root.append(suite)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _failure(report: GateReport, result: RowResult, *, skip: bool) -> str | None:
    if report.look.exploratory:
        return "skipped"
    match result.verdict:
        case Verdict.PASS:
            return None
        case Verdict.FAIL:
            return "failure"
        case Verdict.INCONCLUSIVE:
            return "skipped" if skip else "failure"


def _details(result: RowResult) -> str:
    paired = paired_text(result.paired)
    lines = [
        result.row.words,
        f"because: {result.row.reason}",
        f"interval: {interval_text(result.interval, result.row.metric)}, {result.method}",
        f"rests on: {basis_text(result)}",
        *([f"against: {paired}"] if paired else []),
    ]
    return "\n".join(lines)


def _fit(text: str) -> str:
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)
