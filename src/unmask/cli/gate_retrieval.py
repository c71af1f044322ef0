"""Where a gate run's facts come from, out of what was typed."""

from unmask.gate.retrieval import NaiveRetrieval, TypedRetrieval
from unmask.gate.retriever import Retriever
from unmask.knowledge.context import Form


def retriever_for(retrieval: str, form: str | None, *, is_embedded: bool) -> Retriever:
    """Return what chooses facts; all systems of a run have the same.

    Args:
        retrieval: one of `unmask.cli.gate_generate_parser.RETRIEVALS`.
        form: how facts are written, if that was typed.
        is_embedded: whether all systems are embedded models, which read cards; others read prose.
    """
    if retrieval == "naive":
        return NaiveRetrieval()
    default = Form.CARDS if is_embedded else Form.PROSE
    return TypedRetrieval(default if form is None else Form(form))
