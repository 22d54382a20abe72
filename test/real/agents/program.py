"""Loops of real libraries, as their users write them: one way for each, by the first argument."""

import asyncio
import json
import os
import sys

with open(os.environ["EVERTURN_ROW"]) as file:
    question = json.load(file)["question"]
MODEL = os.environ["OPENAI_MODEL"]
AGAIN = "Check it."


def openai():
    from openai import OpenAI

    client, messages = OpenAI(), [{"role": "user", "content": question}]
    for _ in range(3):
        reply = client.chat.completions.create(model=MODEL, messages=messages).choices[0].message
        messages += [reply, {"role": "user", "content": AGAIN}]
    return reply.content


def openai_stream():
    from openai import OpenAI

    client, messages = OpenAI(), [{"role": "user", "content": question}]
    for _ in range(3):
        events = client.chat.completions.create(model=MODEL, messages=messages, stream=True)
        text = "".join(event.choices[0].delta.content or "" for event in events if event.choices)
        messages += [{"role": "assistant", "content": text}, {"role": "user", "content": AGAIN}]
    return text


def responses():
    from openai import OpenAI

    client = OpenAI()
    reply = client.responses.create(model=MODEL, input=question)
    for _ in range(2):
        reply = client.responses.create(model=MODEL, input=AGAIN, previous_response_id=reply.id)
    return reply.output_text


def anthropic():
    from anthropic import Anthropic

    client, messages = Anthropic(), [{"role": "user", "content": question}]
    for _ in range(3):
        with client.messages.stream(model=MODEL, max_tokens=200, messages=messages) as stream:
            reply = stream.get_final_message()
        messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": AGAIN}]
    return reply.content[0].text


def langgraph():
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    agent, state = create_react_agent(ChatOpenAI(model=MODEL), tools=[]), {"messages": [("user", question)]}
    for _ in range(3):
        state = agent.invoke(state)
        reply = state["messages"][-1].content
        state = {"messages": [*state["messages"], ("user", AGAIN)]}
    return reply


def agents():
    from agents import Agent, Runner

    async def loop():
        agent, asked = Agent(name="Solver", instructions="Solve it.", model=MODEL), question
        for _ in range(3):
            result = await Runner.run(agent, asked)
            asked = [*result.to_input_list(), {"role": "user", "content": AGAIN}]
        return result.final_output

    return asyncio.run(loop())


def litellm():
    import litellm

    messages = [{"role": "user", "content": question}]
    for _ in range(3):
        reply = litellm.completion(model=f"openai/{MODEL}", messages=messages).choices[0].message
        messages += [reply.model_dump(), {"role": "user", "content": AGAIN}]
    return reply.content


print(json.dumps({"answer": globals()[sys.argv[1]]()}))
