"""``unmask world ask``."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from difflib import get_close_matches

from rich.table import Table
from rich.text import Text

from unmask.cards import SLOTS
from unmask.cli.embeddings import embedder_of
from unmask.cli.exits import Exit, UsageError
from unmask.cli.tools import Tools
from unmask.knowledge.context import Context, Form
from unmask.knowledge.conversation import Conversation
from unmask.knowledge.files import read_world
from unmask.knowledge.morphemes import kiwi_stemmer
from unmask.knowledge.prose import Writer
from unmask.knowledge.retriever import PERSONA, Ask, Retrieval, Retriever
from unmask.knowledge.shipped import EXAMPLE
from unmask.knowledge.world import World


def run_ask(args: argparse.Namespace, tools: Tools) -> int:
    """Show what a prompt with each question would carry; several questions are turns of one conversation."""
    folder = args.world or EXAMPLE
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder, allowed: one with world.yaml and entities in it")
    if not all(question.strip() for question in args.question):
        raise UsageError("a question is empty; say what is asked")
    world = read_world(folder)
    speaker = _speaker(world, args.speaker)
    language = args.language or world.languages[0]
    form = _default_form(world) if args.form is None else Form(args.form)
    retriever = Retriever(
        world,
        settings=Retrieval(budget=args.budget, most_similar=args.similar),
        embedder=embedder_of(args),
        stemmer=kiwi_stemmer() if args.kiwi else None,
    )
    for note in retriever.notes:
        tools.say(note)
    turns: list[Context] = []
    conversation = Conversation()
    for question in args.question:
        ask = Ask(question=question, speaker=speaker, language=language, form=form, conversation=conversation)
        turns.append(retriever.retrieve(ask))
        conversation = conversation.after(turns[-1])
    if args.json:
        tools.write_json(_record(world, speaker, args.question, turns))
    else:
        _show(world, args.question, turns, tools, explain=args.explain)
    return Exit.OK


def _default_form(world: World) -> Form:
    """Return cards, or prose for a world that has no slot which cards can write, as imported ones."""
    return Form.CARDS if any(slot in SLOTS for type_ in world.types.values() for slot in type_.slots) else Form.PROSE


def _speaker(world: World, given: str | None) -> str:
    if given is None:
        with_persona = [found.subject for found in world.statements.values() if found.slot == PERSONA]
        return next(iter(with_persona or world.entities))
    if given not in world.entities:
        near = get_close_matches(given, world.entities, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"--speaker is {given!r}, allowed: the id of an entity of {world.id}{hint}")
    return given


def _show(world: World, questions: Sequence[str], turns: Sequence[Context], tools: Tools, *, explain: bool) -> None:
    for question, context in zip(questions, turns, strict=True):
        if len(turns) > 1:
            tools.say(f"> {question}")
        tools.write(context.text)
        if explain:
            tools.out.print(_linked(world, context), highlight=False, markup=False, soft_wrap=True)
            tools.out.print(_table(world, context))
        elif context.left_out:
            tools.say(f"{len(context.left_out)} facts are on slots that {context.form} cannot write; see --explain")


def _linked(world: World, context: Context) -> str:
    names = [world.entities[entity].names[context.language] for entity in context.entities]
    asked = f"; asked for {', '.join(context.asked)}" if context.asked else "; no slot recognised"
    return f"linked to {', '.join(names) or 'nothing'}{asked}; {context.tokens} tokens"


def _table(world: World, context: Context) -> Table:
    table = Table()
    for name in ("fact", "why", "score", "tokens", "says"):
        table.add_column(Text(name), overflow="fold")
    for fact in context.facts:
        table.add_row(Text(fact.id), fact.reason, f"{fact.score:.3f}", str(fact.tokens), _says(world, context, fact.id))
    for kept_out, why in ((context.dropped, "no room"), (context.left_out, "no slot of a card")):
        for id_ in kept_out:
            table.add_row(Text(id_, "dim"), Text(f"not there: {why}", "dim"), "", "", _says(world, context, id_))
    return table


def _says(world: World, context: Context, id_: str) -> Text:
    writer = Writer(world, context.language)
    if id_ in world.statements:
        return Text(writer.statement(world.statements[id_]))
    return Text(writer.misconception(world.misconceptions[id_]))


def _record(world: World, speaker: str, questions: Sequence[str], turns: Sequence[Context]) -> dict[str, object]:
    return {
        "world": world.id,
        "digest": world.digest,
        "speaker": speaker,
        "turns": [{"question": question} | asdict(context) for question, context in zip(questions, turns, strict=True)],
    }
