"""A reward server as an environment: one answer goes in, its number is the reward and ends the rollout.

    everturn run rows.jsonl --environment "python3 examples/environments/reward_server.py slime https://rewards.internal/v1"

| shape | gets | gives |
|---|---|---|
| openrlhf | {"query": [prompt + answer], "prompts": [prompt], "labels": [label]} | {"rewards": [x], "extra_logs"?} |
| slime | {"prompt", "response", "label"} | a number, {"reward"} or {"score"} |
| nemo-gym | `/seed_session`, then `/verify` with the row, `responses_create_params` and `response` | {"reward", "reward_components"?} |

`label` is the row's `label`, `answer`, `ground_truth` or first of `solutions`. Of NeMo Gym it is a resources server, whose tools
are not called; its `_ng_failure_class` is no reward. A third word is how many answers one worker may ask about at once (32).
"""

import hashlib
import http.cookiejar
import json
import sys
import urllib.error
import urllib.request

TIMEOUT_SECONDS = 180
MAX_BYTES = 1 << 20

SHAPES = ("openrlhf", "slime", "nemo-gym")
TAKES = f"one of {', '.join(SHAPES)}, the address of a server (https://…) and how many answers to ask about at once"

given = sys.argv[1:]
if len(given) not in (2, 3) or given[0] not in SHAPES or "://" not in given[1] or not all(map(str.isdecimal, given[2:])):
    sys.exit(f"reward_server.py takes {TAKES}; it got {given}")
shape, base, *more = given
base = base.rstrip("/")


class Failure(Exception):
    def __init__(self, message, retryable=False):
        super().__init__(message)
        self.retryable = retryable


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def opener():
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    return urllib.request.build_opener(NoRedirect, cookies)


def post(http, path, body, key):
    headers = {"content-type": "application/json", "idempotency-key": key}
    request = urllib.request.Request(base + path, json.dumps(body).encode(), headers)
    try:
        with http.open(request, timeout=TIMEOUT_SECONDS - 5) as response:
            said = response.read(MAX_BYTES + 1)
    except urllib.error.HTTPError as refused:
        passes = refused.code in (408, 429) or refused.code >= 500
        raise Failure(f"{base}{path} answered with status {refused.code}", passes) from refused
    except OSError as away:
        raise Failure(f"{base}{path} cannot be reached: {away}", True) from away
    if len(said) > MAX_BYTES:
        raise Failure(f"{base}{path} gave more than 1 MiB")
    return json.loads(said)


def label_of(row):
    found = [row[name] for name in ("label", "answer", "ground_truth") if row.get(name) is not None]
    return (found + (row.get("solutions") or []) + [None])[0]


def only(value):
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def numbers(named):
    found = {name: only(value) for name, value in (named or {}).items()}
    found = {name: value for name, value in found.items() if is_number(value)}
    return {"metrics": found} if found else {}


def reward_of(said):
    """A number, a list of one, or an object that holds one."""
    if is_number(only(said)):
        return {"reward": only(said), "done": True}
    held = said if isinstance(said, dict) else {}
    reward = next((only(held[name]) for name in ("rewards", "reward", "score") if held.get(name) is not None), None)
    if not is_number(reward):
        raise Failure(f"the reply holds no single reward: {json.dumps(said)[:200]}")
    return {"reward": reward, "done": True, **numbers(held.get("extra_logs"))}


def judged(episode, answer, messages, key):
    """By a server of OpenRLHF or slime."""
    texts = [f"{message['role']}: {message['content']}\n" for message in messages]
    prompt = messages[0]["content"] if len(messages) == 1 else "".join(texts)
    label = label_of(episode["row"])
    body = {"prompt": prompt, "response": answer, "label": label}
    if shape == "openrlhf":
        body = {"query": [prompt + answer], "prompts": [prompt], "labels": [label]}
    return reward_of(post(opener(), "", body, key))


def verified(episode, answer, messages, key):
    """By a resources server of NeMo Gym."""
    given = episode["row"].get("responses_create_params") or {}
    params = {**given, "input": given.get("input", messages)}
    asked = {**episode["row"], "responses_create_params": params}
    text = {"type": "output_text", "text": answer, "annotations": []}
    said = {"id": f"msg_{key}", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    response = {"id": f"resp_{key}", "object": "response", "created_at": 0, "model": "everturn", "output": [said]}
    response |= {"parallel_tool_calls": False, "tool_choice": "auto", "tools": params.get("tools") or []}
    session = opener()
    post(session, "/seed_session", asked, key)
    reply = post(session, "/verify", {**asked, "response": response}, key)
    if reply.get("_ng_failure_class") is not None:
        raise Failure(f"it could not judge: {reply['_ng_failure_class']} {reply.get('_ng_failure_judge_error')}", True)
    if not is_number(reply.get("reward")):
        raise Failure(f"the reply holds no reward: {json.dumps(reply)[:200]}")
    return {"reward": reply["reward"], "done": True, **numbers(reply.get("reward_components"))}


def text_of(content):
    parts = content if isinstance(content, list) else []
    return content if isinstance(content, str) else "".join(part.get("text") or "" for part in parts)


def begin(episode, **_):
    """The prompt of a row as NeMo Gym writes it; nothing for a row that has ours."""
    given = (episode["row"].get("responses_create_params") or {}).get("input") or []
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
    messages = [{"role": message["role"], "content": text_of(message.get("content"))} for message in messages]
    return {"messages": messages} if messages else {}


def respond(episode, turn, answer, messages, **_):
    judge = verified if shape == "nemo-gym" else judged
    return judge(episode, answer, messages, f"{episode['key']}/{turn}")


def say(line):
    print(json.dumps(line), flush=True)


name = f"{shape}-{hashlib.sha256(base.encode()).hexdigest()[:12]}"
hello = {"protocol": 1, "name": name, "version": "1", "timeoutSeconds": TIMEOUT_SECONDS}
say({"hello": {**hello, "begins": shape == "nemo-gym", "processes": int(more[0]) if more else 32}})
calls = {"begin": begin, "respond": respond}
for line in sys.stdin:
    call = json.loads(line)
    try:
        say({"id": call["id"], "result": calls[call["method"]](**call["params"])})
    except Exception as broken:
        error = {"message": f"{type(broken).__name__}: {broken}", "retryable": getattr(broken, "retryable", False)}
        say({"id": call["id"], "error": error})
