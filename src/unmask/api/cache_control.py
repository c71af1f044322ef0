"""What a client allows the cache: the request header ``Cache-Control`` (RFC 9111, section 5.2.1)."""

import re
from dataclasses import replace

from starlette.datastructures import Headers

from unmask.api.call import Call
from unmask.control.asked import CacheUse

HEADER = "cache-control"
_MAX_AGE = re.compile(r"max-age=\"?(\d{1,10})\"?")


def cache_use(headers: Headers) -> CacheUse:
    """Return what the header allows; directives that are not known, or not well formed, say nothing, by the RFC."""
    sent = ",".join(headers.getlist(HEADER)).lower().split(",")
    directives = {directive.strip() for directive in sent}
    ages = [int(found[1]) for directive in directives if (found := _MAX_AGE.fullmatch(directive)) is not None]
    return CacheUse(
        may_read="no-cache" not in directives,
        may_store="no-store" not in directives,
        max_age_s=min(ages, default=None),
    )


def with_cache_use(call: Call, headers: Headers) -> Call:
    """Return a call with what its client allows the cache."""
    if HEADER not in headers:
        return call
    return replace(call, asked=replace(call.asked, cache=cache_use(headers)))
