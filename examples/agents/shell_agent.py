"""An agent with one tool, a shell in the container of its rollout. No library is needed."""

import json
import os
import subprocess
import urllib.request

STEPS = 10
TOOL = {
    "type": "function",
    "function": {
        "name": "shell",
        "description": "Runs a command in the working directory.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    },
}


def ask(messages):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": os.environ["OPENAI_MODEL"], "messages": messages, "tools": [TOOL]}).encode(),
        {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]


def shell(command):
    done = subprocess.run(
        [os.environ["EVERTURN_EXEC"], "sh", "-c", command], capture_output=True, text=True, errors="replace", timeout=300
    )
    return json.dumps({"output": (done.stdout + done.stderr)[-4000:], "code": done.returncode})


with open(os.environ["EVERTURN_ROW"]) as file:
    row = json.load(file)
messages = [{"role": "user", "content": row["question"]}]
for _ in range(STEPS):
    message = ask(messages)
    messages.append(message)
    calls = message.get("tool_calls") or []
    if not calls:
        break
    for call in calls:
        result = shell(json.loads(call["function"]["arguments"]).get("command", ""))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
