"""An agent with its own loop, by the libraries of OpenAI and Anthropic: it adds until the model calls no more.

agent.py BASE WAY CALLS: prints the last answer; ends by itself, as if killed, when the replies to so many calls have come.
"""

import os
import sys

base, way, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
key = os.environ["AGENT_KEY"]
task = {"role": "user", "content": "Do 3 sums."}
schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
add = {"name": "add", "description": "adds"}
made = 0


def chat(streamed):
    from openai import OpenAI

    ask, messages = OpenAI(base_url=base + "/v1", api_key=key).chat.completions, [task]
    while True:
        tool = {"type": "function", "function": {**add, "parameters": schema}}
        given = {"model": "any", "messages": messages, "tools": [tool]}
        if streamed:
            with ask.stream(**given) as stream:
                said = stream.get_final_completion().choices[0].message
        else:
            said = ask.create(**given).choices[0].message
        calls = [call.model_dump(include={"id", "type", "function"}) for call in said.tool_calls or []]
        for call in calls:
            call["function"].pop("parsed_arguments", None)
        yield said.content, calls
        messages += [{"role": "assistant", "content": said.content, "tool_calls": calls}]
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": "6"} for call in calls]


def responses(streamed, chained=False):
    from openai import OpenAI

    ask, items, previous = OpenAI(base_url=base + "/v1", api_key=key).responses, [task], None
    while True:
        tool = {"type": "function", **add, "parameters": schema}
        given = {"model": "any", "instructions": "You add.", "input": items, "tools": [tool]}
        if chained:
            given["previous_response_id"] = previous
        if streamed:
            with ask.stream(**given) as stream:
                said = stream.get_final_response()
        else:
            said = ask.create(**given)
        calls = [item for item in said.output if item.type == "function_call"]
        yield said.output_text, calls
        results = [{"type": "function_call_output", "call_id": call.call_id, "output": "6"} for call in calls]
        own = [item.model_dump(exclude_none=True, exclude={"parsed", "parsed_arguments"}) for item in said.output]
        items, previous = (results, said.id) if chained else (items + own + results, None)


def messages(streamed):
    from anthropic import Anthropic

    ask, said_so_far = Anthropic(base_url=base, api_key=key).messages, [task]
    while True:
        tool = {**add, "input_schema": schema}
        given = {"model": "any", "max_tokens": 100, "messages": said_so_far, "tools": [tool]}
        if streamed:
            with ask.stream(**given) as stream:
                said = stream.get_final_message()
        else:
            said = ask.create(**given)
        calls = [block for block in said.content if block.type == "tool_use"]
        yield said.content[-1].text if not calls else "", calls
        own = [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in said.content]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "6"} for call in calls]
        said_so_far = [*said_so_far, {"role": "assistant", "content": own}, {"role": "user", "content": results}]


WAYS = {
    "chat": lambda: chat(False),
    "chat, streamed": lambda: chat(True),
    "responses": lambda: responses(False),
    "responses, streamed": lambda: responses(True),
    "responses, chained": lambda: responses(False, True),
    "messages": lambda: messages(False),
    "messages, streamed": lambda: messages(True),
}
for text, calls in WAYS[way]():
    made += 1
    if not calls:
        print(text.strip())
    if not calls or made == most:
        break
