"""The shapes of what Everturn hands out; docs/formats.md says what each field means."""
from typing import List, Optional, TypedDict


class _Row(TypedDict):
    id: str
    group: str
    sample: int
    prompt_ids: List[int]
    response_ids: List[int]
    response_mask: List[int]
    logprobs: List[float]
    versions: List[int]
    turn_ids: List[int]
    turn_ends: List[int]
    turn_rewards: List[float]
    turn_returns: List[float]
    turn_success: List[Optional[int]]
    turn_finish: List[str]
    reward: float
    success: bool
    finish: str
    version_start: int
    version_end: int


class Row(_Row, total=False):
    """One rollout. The lists from response_ids to turn_ids have an entry a token after the prompt, the turn_ ones an
    entry a turn. The feed's rows have the fields below as well; turn_advantages needs `--advantages` in an export."""

    turn_advantages: List[float]
    staleness: Optional[int]
    surviving: Optional[bool]
    group_size: int
    group_success_rate: Optional[float]
    zero_variance: bool
