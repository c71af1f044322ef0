"""Where a gate run's facts come from, out of what was typed."""

from unmask.cli.exits import UsageError
from unmask.gate.retrieval import NaiveRetrieval, TypedRetrieval
from unmask.gate.retriever import Retriever
from unmask.knowledge.context import Form
from unmask.knowledge.embedding import Embedder


def retriever_for(retrieval: str, form: str | None, embedder: Embedder | None, *, is_embedded: bool) -> Retriever:
    """Return what chooses facts; all systems of a run have the same.

    Args:
        retrieval: one of `unmask.cli.gate_generate_parser.RETRIEVALS`.
        form: how facts are written, if that was typed.
        embedder: whose vectors typed retrieval compares texts by; those that need no server unless given.
        is_embedded: whether all systems are embedded models, which read cards; others read prose.

    Raises:
        UsageError: naive triples are drawn and compare nothing.
    """
    if retrieval == "naive":
        if embedder is not None:
            raise UsageError("--embeddings goes with --retrieval typed: naive triples are drawn by chance")
        return NaiveRetrieval()
    default = Form.CARDS if is_embedded else Form.PROSE
    return TypedRetrieval(default if form is None else Form(form), embedder=embedder)
