"""Loops with a tool, as the users of real libraries write them: one way for each, by the first argument."""

import asyncio
import json
import os
import signal
import sys

with open(os.environ["EVERTURN_ROW"]) as file:
    row = json.load(file)
question = row["question"]
MODEL = os.environ["OPENAI_MODEL"]
SERVER = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"]}


def add(a: int, b: int) -> str:
    """Adds two numbers.

    Args:
        a: One number.
        b: The other one.
    """
    if (row["id"], a, os.environ["EVERTURN_ATTEMPT"]) == ("killed", 3, "1"):
        with open(os.environ["ENVIRONMENT_KILLS"], "a") as kills:
            kills.write("killed\n")
        os.kill(os.getpid(), signal.SIGKILL)
    return str(a + b)


def openai():
    from openai import OpenAI, pydantic_function_tool
    from pydantic import create_model

    tool = pydantic_function_tool(create_model("add", a=(int, ...), b=(int, ...)))
    client, messages = OpenAI(), [{"role": "user", "content": question}]
    while True:
        reply = client.chat.completions.parse(model=MODEL, messages=messages, tools=[tool]).choices[0].message
        if not reply.tool_calls:
            return reply.content
        messages.append(reply)
        for call in reply.tool_calls:
            result = add(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def anthropic():
    from anthropic import Anthropic, beta_tool

    given = {"model": MODEL, "max_tokens": 500, "messages": [{"role": "user", "content": question}]}
    runner = Anthropic().beta.messages.tool_runner(tools=[beta_tool(add)], **given)
    return runner.until_done().content[-1].text


def litellm():
    import litellm

    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": schema}}]
    messages = [{"role": "user", "content": question}]
    while True:
        asked = {"model": f"anthropic/{MODEL}", "messages": messages, "tools": tools}
        reply = litellm.completion(**asked, api_base=os.environ["ANTHROPIC_BASE_URL"]).choices[0].message
        if not reply.tool_calls:
            return reply.content
        messages.append(reply)
        for call in reply.tool_calls:
            result = add(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def langgraph():
    from langchain_openai import ChatOpenAI

    return react(ChatOpenAI(model=MODEL))


def langgraph_anthropic():
    from langchain_anthropic import ChatAnthropic

    return react(ChatAnthropic(model=MODEL))


def react(model):
    from langgraph.prebuilt import create_react_agent

    return create_react_agent(model, tools=[add]).invoke({"messages": [("user", question)]})["messages"][-1].text


def agents():
    from agents import Agent, Runner, function_tool

    agent = Agent(name="Adder", instructions="You add.", model=MODEL, tools=[function_tool(add)])
    return asyncio.run(Runner.run(agent, question)).final_output


def pydantic_ai():
    return pydantic("openai-chat")


def pydantic_ai_responses():
    return pydantic("openai-responses")


def pydantic_ai_anthropic():
    return pydantic("anthropic")


def pydantic(api):
    from pydantic_ai import Agent

    return Agent(f"{api}:{MODEL}", tools=[add]).run_sync(question).output


def smolagents():
    from smolagents import OpenAIServerModel, ToolCallingAgent, tool

    return ToolCallingAgent(tools=[tool(add)], model=OpenAIServerModel(MODEL, **SERVER), verbosity_level=0).run(question)


def smolagents_code():
    from smolagents import CodeAgent, OpenAIServerModel, tool

    return CodeAgent(tools=[tool(add)], model=OpenAIServerModel(MODEL, **SERVER), verbosity_level=0).run(question)


print(json.dumps({"answer": str(globals()[sys.argv[1]]())}))
