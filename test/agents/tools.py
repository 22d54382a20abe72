"""Loops with a tool, as the users of real libraries write them: one way for each, by the first argument."""

import asyncio
import json
import os
import signal
import sys

with open(os.environ["EVERTURN_ROW"]) as file:
    question = json.load(file)["question"]
MODEL = os.environ["OPENAI_MODEL"]


def add(a: int, b: int) -> str:
    """Adds two numbers.

    Args:
        a: One number.
        b: The other one.
    """
    if (a, os.environ["EVERTURN_ATTEMPT"]) == (3, "1"):
        with open(os.environ["ENVIRONMENT_KILLS"], "a") as kills:
            kills.write("killed\n")
        os.kill(os.getpid(), signal.SIGKILL)
    return str(a + b)


def langgraph():
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    agent = create_react_agent(ChatOpenAI(model=MODEL), tools=[add])
    return agent.invoke({"messages": [("user", question)]})["messages"][-1].content


def agents():
    from agents import Agent, Runner, function_tool

    agent = Agent(name="Adder", instructions="You add.", model=MODEL, tools=[function_tool(add)])
    return asyncio.run(Runner.run(agent, question)).final_output


def smolagents():
    from smolagents import OpenAIServerModel, ToolCallingAgent, tool

    model = OpenAIServerModel(MODEL, api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
    return ToolCallingAgent(tools=[tool(add)], model=model, verbosity_level=0).run(question)


def mini_swe_agent():
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.config import get_config_from_spec
    from minisweagent.environments.local import LocalEnvironment
    from minisweagent.models.litellm_model import LitellmModel

    config = get_config_from_spec("default.yaml")
    given = {**config["model"], "model_name": f"openai/{MODEL}", "cost_tracking": "ignore_errors"}
    agent = DefaultAgent(LitellmModel(**given), LocalEnvironment(), **config["agent"])
    return agent.run(question)["submission"]


print(json.dumps({"answer": str(globals()[sys.argv[1]]())}))
