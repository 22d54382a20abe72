"""An agent with the library of OpenAI: three answers side by side, and the most frequent number wins.

    everturn run examples/arithmetic.jsonl --agent "python3 examples/agents/vote.py" --limit 20
"""

import collections
import concurrent.futures
import json
import os
import re

from openai import OpenAI

with open(os.environ["EVERTURN_ROW"]) as file:
    row = json.load(file)
client = OpenAI()


def ask(_):
    messages = [{"role": "user", "content": row["question"]}]
    reply = client.chat.completions.create(model=os.environ["OPENAI_MODEL"], messages=messages)
    numbers = re.findall(r"-?\d+", reply.choices[0].message.content or "")
    return numbers[-1] if numbers else ""


with concurrent.futures.ThreadPoolExecutor() as pool:
    votes = collections.Counter(pool.map(ask, range(3)))
print(json.dumps({"answer": votes.most_common(1)[0][0]}))
