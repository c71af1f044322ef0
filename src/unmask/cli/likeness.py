"""``unmask tenants report``."""

import argparse
import math
import os
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from unmask.cli.exits import Exit
from unmask.cli.intervals import interval_record, shown
from unmask.cli.keys import settings_of
from unmask.cli.tools import Tools
from unmask.database.engine import open_database
from unmask.database.place import database_url
from unmask.ledger.traffic import booked_since
from unmask.stats import NotEnoughData
from unmask.tenants.likeness import Likeness, likenesses
from unmask.tenants.traffic import FEATURES, Served, hours_of

DAY_S = 86_400


def run_report(args: argparse.Namespace, tools: Tools) -> int:
    """Name tenants whose traffic does not look like the class that they ask for."""
    engine = open_database(database_url(settings_of(args).database, os.environ))
    try:
        since = tools.now().timestamp() - args.days * DAY_S
        traffic = [
            Served(
                tenant=one.tenant,
                service_class=one.service_class,
                begun=one.begun,
                seconds=one.seconds,
                prompt_tokens=one.prompt_tokens,
                steps=one.steps,
            )
            for one in booked_since(engine, since)
            # Without keys there are no tenants, and without a policy no classes.
            if one.tenant and one.service_class
        ]
    finally:
        engine.dispose()
    found = likenesses(hours_of(traffic), args.seed)
    if args.json:
        tools.write_json(
            {"days": args.days, "requests": len(traffic), "compared": [likeness_record(one) for one in found]}
        )
    else:
        _show(found, len(traffic), args.days, tools)
    return Exit.OK


def _show(found: Sequence[Likeness], requests: int, days: int, tools: Tools) -> None:
    named = [one for one in found if one.is_named]
    if named:
        tools.out.print(likeness_table(named))
    unknown = sum(isinstance(one.position, NotEnoughData) for one in found)
    tools.say(
        f"{requests} requests in {days} days: {len(named)} of {len(found)} comparisons name a tenant, "
        f"{unknown} lack data"
    )


def likeness_record(one: Likeness) -> dict[str, object]:
    """Return a comparison, for machines."""
    return {
        "tenant": one.tenant,
        "asks_for": one.asked,
        "compared_with": one.other,
        "is_named": one.is_named,
        "hours": one.hours,
        "position": interval_record(one.position),
        "features": {
            name: {"tenant": math.expm1(own), "asked": math.expm1(asked), "other": math.expm1(other)}
            for name, (own, asked, other) in zip(FEATURES, one.means, strict=False)
        },
    }


def likeness_table(named: Sequence[Likeness]) -> Table:
    """Return a line a tenant that is named; a feature shows the tenant, the class asked for, and the other one."""
    table = Table(caption="position: 0 is the class asked for, 1 the other; features: tenant | class | other, an hour")
    for heading in ("tenant", "asks for", "looks like", "hours", "position", *FEATURES):
        table.add_column(heading.replace("_", " "))
    for one in named:
        table.add_row(
            Text(one.tenant),
            Text(one.asked),
            Text(one.other),
            str(one.hours),
            shown(one.position),
            *(" | ".join(f"{math.expm1(mean):.3g}" for mean in means) for means in one.means),
        )
    return table
