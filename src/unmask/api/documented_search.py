"""What an answer says of its search, for the OpenAPI document only."""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from unmask.control.search_choice import SearchSource
from unmask.search.reward import RewardEnd
from unmask.search.running import Limit
from unmask.service import SearchMethod


class SearchUsage(BaseModel):
    """Which search was run, and what became of it; `mixed` is what choices differ in."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    method: SearchMethod | Literal["mixed"]
    width: int = Field(description="How wide it was to be; of several choices the widest.")
    source: SearchSource | Literal["mixed"] = Field(description="Whether the client or the policy asked for it.")
    limit: Limit | Literal["mixed"] | None = Field(description="What kept it from going on, if anything did.")
    dropped: int = Field(description="Generations that this kept from their end, or from being begun at all.")
    reward: RewardEnd | Literal["mixed"] | None = Field(
        description="What came of asking the reward endpoint; null where it was not needed or there is none."
    )
