"""Agents that ask for a typed answer, as the users of real libraries write them by default: one way for each, by the first argument."""

import asyncio
import json
import os
import sys

from pydantic import BaseModel

with open(os.environ["EVERTURN_ROW"]) as file:
    question = json.load(file)["question"]
MODEL = os.environ["OPENAI_MODEL"]


class Sum(BaseModel):
    """A sum."""

    sum: int


def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return str(a + b)


def openai_chat():
    from openai import OpenAI

    asked = {"model": MODEL, "messages": [{"role": "user", "content": question}], "response_format": Sum}
    return OpenAI().chat.completions.parse(**asked).choices[0].message.parsed


def openai_responses():
    from openai import OpenAI

    return OpenAI().responses.parse(model=MODEL, input=question, text_format=Sum).output_parsed


def anthropic():
    from anthropic import Anthropic

    given = {"model": MODEL, "max_tokens": 500, "messages": [{"role": "user", "content": question}]}
    return Anthropic().messages.parse(**given, output_format=Sum).parsed_output


def litellm():
    import litellm

    asked = {"model": f"openai/{MODEL}", "messages": [{"role": "user", "content": question}]}
    return Sum.model_validate_json(litellm.completion(**asked, response_format=Sum).choices[0].message.content)


def langchain():
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=MODEL).with_structured_output(Sum).invoke(question)


def langchain_agent():
    """By the endpoint's own format."""
    from langchain.agents.structured_output import ProviderStrategy

    return langchain_loop(ProviderStrategy(Sum))


def langchain_tool():
    """By default, with a model that it does not know: by a tool that it forces."""
    return langchain_loop(Sum)


def langchain_loop(form):
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    agent = create_agent(ChatOpenAI(model=MODEL), [add], response_format=form)
    return agent.invoke({"messages": [("user", question)]})["structured_response"]


def agents():
    from agents import Agent, Runner, function_tool

    agent = Agent(name="Adder", instructions="You add.", model=MODEL, tools=[function_tool(add)], output_type=Sum)
    return asyncio.run(Runner.run(agent, question)).final_output


def agents_chat():
    from agents import set_default_openai_api

    set_default_openai_api("chat_completions")
    return agents()


def pydantic_ai():
    from pydantic_ai import NativeOutput

    return pydantic(NativeOutput(Sum))


def pydantic_ai_tool():
    """By default: a tool that it forces."""
    return pydantic(Sum)


def pydantic(form):
    from pydantic_ai import Agent

    return Agent(f"openai-chat:{MODEL}", tools=[add], output_type=form).run_sync(question).output


print(json.dumps({"answer": str(globals()[sys.argv[1]]().sum)}))
