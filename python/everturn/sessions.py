"""Sessions: an agent that runs elsewhere comes for the rollouts of `everturn run … --agent session`.

    for session in sessions():
        client = OpenAI(base_url=session.base_url, api_key=session.api_key)
        ...
        session.end(answer="42")

docs/agents.md defines the requests. A rollout whose agent fell silent is handed out again, and its finished calls are
answered from their records at once."""
import json
import os
import threading
import time
import urllib.error
import urllib.request

from .errors import EverturnError
from .feed import _home, _read

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
WAIT_SECONDS = 30
PATIENCE_SECONDS = 60
AWAY_SECONDS = 2
END_TRIES = 5


class Session:
    """One rollout, in this agent's hands. base_url, api_key, model: for the OpenAI library (Anthropic's takes
    anthropic_base_url); row: of the data set; key: the same for each attempt of this rollout."""

    def __init__(self, given):
        for name in ("url", "base_url", "anthropic_base_url", "api_key", "model", "row", "seed", "key", "run", "query", "sample", "attempt"):
            setattr(self, name, given[name])
        self.over = threading.Event()
        self._beats = threading.Thread(target=self._beat, args=(given["silent_seconds"] / 4,), daemon=True)
        self._beats.start()

    def end(self, answer=None, reward=None, rewards=None):
        """The answer to be judged, or the reward; without either the text of the last reply is judged. False: this agent had
        lost the session, and the rollout goes to another."""
        said = {"answer": answer, "reward": reward, "rewards": rewards}
        return self._end({name: value for name, value in said.items() if value is not None})

    def reward(self, value, call=None, rewards=None):
        """As `everturn.agents.reward`: of the rollout, or of one call."""
        from .agents import reward

        return reward(value, call, rewards, self.base_url, self.api_key)

    def fail(self, error):
        """The rollout failed by the agent's own fault, in these words."""
        return self._end({"error": str(error)})

    def _end(self, words):
        if self.over.is_set():
            return False
        self.over.set()
        for _ in range(END_TRIES):
            try:
                _post(f"{self.url}/end", self.api_key, words)
                return True
            except EverturnError as error:
                if error.reason != "no-session":
                    raise
                return False
            except OSError:
                time.sleep(AWAY_SECONDS)
        return False

    def _beat(self, every):
        while not self.over.wait(every):
            try:
                _post(f"{self.url}/heartbeat", self.api_key, {})
            except (EverturnError, OSError):
                pass  # the agent's next call says what is wrong


def sessions(url=None, key=None, forever=False, silent_seconds=120, **of):
    """The rollouts that wait for an agent, one after another. Ends when none has waited for half a minute, unless `forever`.
    url, key: by default those of this user's local service; of a worker elsewhere the key may be in EVERTURN_SESSIONS_KEY.
    of: run, query or sample, for those alone. A rollout that was not ended when the next is asked for has failed."""
    answered = time.monotonic()
    while True:
        address = url or _own("url")
        try:
            given = _post(f"{address}/sessions", key or os.environ.get("EVERTURN_SESSIONS_KEY") or _own("key"),
                          {"silent_seconds": silent_seconds, "wait_seconds": WAIT_SECONDS, **of}, WAIT_SECONDS + 60)
        except OSError as error:  # a worker that starts again has the same address
            if not forever and time.monotonic() - answered > PATIENCE_SECONDS:
                raise EverturnError(f"{address} does not answer: {error}", "no-sessions", "Is its worker up?") from error
            time.sleep(AWAY_SECONDS)
            continue
        if given is None and not forever:
            return
        if given is not None:
            session = Session(given)
            try:
                yield session
            finally:
                session.fail("the agent went on without an end")
        answered = time.monotonic()


def _own(name):
    path = os.path.join(_home(), "sessions.json")
    try:
        return _read(path)[name]
    except (OSError, ValueError, KeyError) as error:
        raise EverturnError(f"{path} names no sessions: is the local service up?", "no-sessions", "Give url= and key=.") from error


def _post(url, key, body, timeout=60):
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with _OPENER.open(request, timeout=timeout) as response:
            text = response.read()
            return json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        said = json.loads(error.read() or b"{}").get("error", {})
        raise EverturnError(said.get("message", str(error)), said.get("code")) from error
