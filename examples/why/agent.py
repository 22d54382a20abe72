# An agent of two calls that is killed between them, the first time (docs/why.md).
import json
import os
import signal
import urllib.request


def ask(messages):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": os.environ["OPENAI_MODEL"], "messages": messages}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]


with open(os.environ["EVERTURN_ROW"]) as file:
    question = {"role": "user", "content": json.load(file)["question"]}
first = ask([question])
if os.environ["EVERTURN_ATTEMPT"] == "1":
    os.kill(os.getpid(), signal.SIGKILL)
second = ask([question, first, {"role": "user", "content": "Are you sure?"}])
print(json.dumps({"answer": second["content"]}))
