"""One agent through the proxies of others, and through Everturn: killed after five of its six calls, and started again.

peers.py (rllm | verifiers | agentlightning | everturn COMMAND...) prints what a scripted model was asked. Its Python has
`openai`, and rllm-model-gateway, verifiers or agentlightning. Everturn asks for text here; tools.real.ts has its ids.
"""

import asyncio
import concurrent.futures
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request

HERE = os.path.abspath(__file__)
TEXTS = ["What is 6 times 7?", "Check it.", "Once more.", "Name it."]


def agent(dies):
    """Three equal calls side by side, two further turns behind one of them, and a side question."""
    from openai import OpenAI

    client = OpenAI()

    def ask(*messages):
        reply = client.chat.completions.create(model="any", messages=messages).choices[0].message
        return [*messages, {"role": "assistant", "content": reply.content}]

    first, *more, side = [{"role": "user", "content": text} for text in TEXTS]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        said = min(pool.map(ask, [first] * 3), key=lambda one: one[-1]["content"])
    for message in more:
        said = ask(*said, message)
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
    ask({"role": "system", "content": "You name things."}, side)
    print(json.dumps({"reward": 1}))


class Model(http.server.BaseHTTPRequestHandler):
    """Chat completions with vLLM's token ids: no two replies are equal, and each is sampled in single characters."""

    lock, calls = threading.Lock(), []

    def do_POST(self):
        messages = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        prompt = tokens("".join(f"<{one['role']}>{one['content']}</s>" for one in messages) + "<assistant>")
        with self.lock:
            text = f"This is {100 + len(self.calls)}."
            self.calls.append((prompt, [*text.encode()], messages, text))
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        head = {"id": f"chatcmpl-{text}", "object": "chat.completion", "created": 1, "model": "any"}
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(text), "total_tokens": len(prompt) + len(text)}
        choices = [{**choice, "token_ids": [*text.encode()]}]
        body = json.dumps({**head, "choices": choices, "prompt_token_ids": prompt, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def tokens(text):
    """Bytes, and one id for each `is`."""
    return [*text.replace("is", "\0").encode()]


def extended(calls):
    """Of the calls behind an earlier reply those that begin with its very ids."""
    sent = [(one, one[2][:-2], one[2][-2]["content"]) for one in calls if len(one[2]) > 2]
    behind = [(one, last) for one, before, said in sent for last in calls if (before, said) == last[2:]]
    exact = [one for one, last in behind if one[0][: len(last[0] + last[1])] == last[0] + last[1]]
    return f"{len(exact)} of {len(behind)}"


async def play(url, key="any", again=None):
    """`again`: the address of the second attempt, where it is another one."""
    for attempt, base in [("1", url), ("2", again or url)]:
        env = {**os.environ, "OPENAI_BASE_URL": base, "OPENAI_API_KEY": key, "EVERTURN_ATTEMPT": attempt}
        await (await asyncio.create_subprocess_exec(sys.executable, HERE, env=env)).wait()


async def rllm(url):
    session = f"http://127.0.0.1:47311/sessions/{os.getpid()}"
    gateway = subprocess.Popen([sys.executable, "-m", "rllm_model_gateway", "--port", "47311", "--worker", url])
    try:
        await asyncio.sleep(8)
        await play(f"{session}/v1")
        return f"{len(json.load(urllib.request.urlopen(f'{session}/traces')))} traces"
    finally:
        gateway.terminate()


async def verifiers(url):
    from verifiers.v1.clients import ModelContext
    from verifiers.v1.configs.client import EvalClientConfig
    from verifiers.v1.interception.server import InterceptionServer
    from verifiers.v1.session import RolloutSession
    from verifiers.v1.trace import Trace

    fields = [(name, field) for name, field in Trace.model_fields.items() if not field.is_required()]
    trace = Trace.model_construct(**{name: field.get_default(call_default_factory=True) for name, field in fields})
    session = RolloutSession(ctx=ModelContext("any", EvalClientConfig(base_url=url)), trace=trace)
    async with InterceptionServer() as server, server.acquire(session) as (at, key, _):
        await play(f"{at}/v1", key)
    return f"{len(trace.calls)} calls in {len(trace.branches)} branches"


async def agentlightning(url):
    os.environ["LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"] = "true"
    from agentlightning.adapter import LlmProxyTraceToTriplet
    from agentlightning.llm_proxy import LLMProxy
    from agentlightning.store.memory import InMemoryLightningStore

    store = InMemoryLightningStore(thread_safe=True)
    given = {"model": "hosted_vllm/any", "api_base": url}
    proxy = LLMProxy(store=store, launch_mode="thread", model_list=[{"model_name": "any", "litellm_params": given}])
    await proxy.start()
    one = await store.start_rollout(input={})
    both = [one.attempt.attempt_id, (await store.start_attempt(one.rollout_id)).attempt.attempt_id]
    urls = [proxy.as_resource(one.rollout_id, attempt).endpoint + "/v1" for attempt in both]
    await play(urls[0], again=urls[1])
    await asyncio.sleep(10)
    spans = [await store.query_spans(one.rollout_id, attempt) for attempt in both]
    await proxy.stop()
    return f"{[len(LlmProxyTraceToTriplet().adapt([*own])) for own in spans]} triplets of two attempts"


async def everturn(url):
    with open("rows.jsonl", "w") as rows:
        rows.write('{"id": "one", "question": "any"}\n')
    own = ["run", "rows.jsonl", "--name", "peers", "--agent", f"{sys.executable} {HERE}"]
    subprocess.run([*sys.argv[2:], *own, "--model", f"openai:{url}#any"], check=True)
    shown = subprocess.run([*sys.argv[2:], "why", "peers", "one"], check=True, capture_output=True, text=True)
    return shown.stdout.split("\n")[1].strip()


if len(sys.argv) == 1:
    agent(dies=os.environ["EVERTURN_ATTEMPT"] == "1")
else:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    recorded = asyncio.run(globals()[sys.argv[1]](f"http://127.0.0.1:{server.server_address[1]}/v1"))
    # The others are questions by which a run or a proxy tries its model.
    made = [call for call in Model.calls if call[2][-1]["content"] in TEXTS]
    print(f"{len(made) - 6} of 5 finished calls generated again; ids of {extended(made)}; {recorded}")
