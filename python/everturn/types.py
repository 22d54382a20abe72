"""The shapes of what Everturn hands out; docs/formats.md says what each field means."""
from typing import Any, Dict, List, Optional, TypedDict, Union


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
    entry a turn. The feed's rows have the fields below as well, but those of `--texts`; turn_advantages needs `--advantages` in
    an export."""

    turn_advantages: List[float]
    mask_stale: List[int]
    token_rewards: List[float]
    # of an agent
    branch: int
    branches: int
    parent_call: Optional[str]
    turn_calls: List[str]
    turn_models: List[Optional[str]]
    turn_tags: List[Optional[str]]
    weight: float
    # named parts of a reward
    rewards: Dict[str, float]
    # of a run that leaves tokens out when it draws
    kept_ids: List[Optional[List[int]]]
    kept_missing: int
    biased_logprobs: bool
    # of a mixture of experts
    experts: List[Dict[str, Any]]
    experts_missing: bool
    staleness: Optional[int]
    surviving: Optional[bool]
    group_size: int
    group_success_rate: Optional[float]
    zero_variance: bool
    # of an export with --texts
    run: str
    index: Optional[int]
    messages: Union[str, List[Dict[str, Any]]]
    solutions: List[str]
    answers: List[str]
    feedback: List[List[Dict[str, Any]]]
    metrics: Optional[Dict[str, float]]
    models: List[str]
    servers: List[Optional[str]]
    top_p: float
    max_new_tokens: List[int]
    started_at: List[int]
    finished_at: List[int]
    judged_ms: List[Optional[int]]
    ended_at: int
