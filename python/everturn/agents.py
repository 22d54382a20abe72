"""For the program of an agent (`everturn run … --agent "python3 my_agent.py"`): rewards of its calls, and the headers by which
a run knows them apart.

    reply = client.chat.completions.create(..., extra_headers=headers(tag="main"))
    reward(0.5, call=reply)      # of this call alone
    reward(1)                    # of the whole rollout

docs/agents.md says what rewards become. In a session (`everturn.sessions`) the reward is `session.reward`."""
import os

from .errors import EverturnError
from .sessions import _post


def headers(tag=None, train=None):
    """For `extra_headers` of the OpenAI or Anthropic library. tag: your name for such calls, by which `--train-calls` chooses and
    rows name them; train=False: this call is context alone."""
    given = {}
    if tag is not None:
        given["x-everturn-tag"] = str(tag)
    if train is not None:
        given["x-everturn-train"] = "1" if train else "0"
    return given


def reward(value, call=None, rewards=None, base_url=None, api_key=None):
    """The reward of the rollout, with its named parts; or of one call: a reply, its id, or "last". The last one counts. What counts
    from now on is returned; the end of the agent records it."""
    base_url = base_url or os.environ.get("OPENAI_BASE_URL")
    api_key = api_key or os.environ.get("OPENAI_API_KEY")
    if not base_url or not api_key:
        raise EverturnError("there is no OPENAI_BASE_URL with its OPENAI_API_KEY", "no-endpoint", "Does Everturn run this program?")
    words = {"call": id_of(call), "reward": value, "rewards": rewards}
    said = {name: one for name, one in words.items() if one is not None}
    return {name: one for name, one in _post(f"{base_url.rstrip('/')}/reward", api_key, said).items() if name != "ok"}


def id_of(call):
    """The id of a reply, of its JSON, or as it is given."""
    if call is None or isinstance(call, str):
        return call
    return call["id"] if isinstance(call, dict) else call.id
