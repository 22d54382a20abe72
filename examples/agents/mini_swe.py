"""mini-swe-agent as it is (`pip install mini-swe-agent`): a shell is its only tool, and what it submits is the answer.

    everturn run tasks.jsonl --agent "python3 examples/agents/mini_swe.py" --model vllm:http://gpu:8000
"""

import json
import os

from minisweagent.agents.default import DefaultAgent
from minisweagent.config import get_config_from_spec
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

with open(os.environ["EVERTURN_ROW"]) as file:
    row = json.load(file)
config = get_config_from_spec("default.yaml")
given = {**config["model"], "model_name": "openai/" + os.environ["OPENAI_MODEL"], "cost_tracking": "ignore_errors"}
agent = DefaultAgent(LitellmModel(**given), LocalEnvironment(), **config["agent"])
print(json.dumps({"answer": agent.run(row["question"])["submission"]}))
