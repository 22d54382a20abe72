"""Loops of real libraries, as their users write them: one way for each, by the first argument."""

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


print(json.dumps({"answer": globals()[sys.argv[1]]()}))
