"""Whether an answer keeps the form that its turn asks for."""

from unmask.gate.scenario import HasForm
from unmask.tasks.patterns import Pattern


def form_faults(form: HasForm, text: str) -> tuple[str, ...]:
    """Return what is wrong with the form of an answer, in words."""
    faults: list[str] = []
    plain = text.strip()
    if form.most_characters is not None and len(plain) > form.most_characters:
        faults.append(f"{len(plain)} characters, allowed: {form.most_characters}")
    if form.pattern is not None and not Pattern(form.pattern).judge((), text).passed:
        faults.append("does not match its pattern")
    return tuple(faults)
