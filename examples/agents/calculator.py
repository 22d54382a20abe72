"""An agent of the OpenAI Agents SDK with a tool (`pip install openai-agents`). The scripted model calls it, without a GPU.

    everturn run examples/arithmetic.jsonl --agent "python3 examples/agents/calculator.py" --model scripted --limit 20
"""

import ast
import json
import operator
import os

from agents import Agent, Runner, function_tool

with open(os.environ["EVERTURN_ROW"]) as file:
    row = json.load(file)
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def value(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](value(node.left), value(node.right))
    raise ValueError("a formula has numbers, + - * / and parentheses")


@function_tool
def calculate(expression: str) -> str:
    """The value of a formula.

    Args:
        expression: numbers, + - * / and parentheses
    """
    return str(value(ast.parse(expression, mode="eval").body))


solver = Agent(
    name="Solver",
    instructions="Solve the problem by the calculator. Put the answer into \\boxed{}.",
    model=os.environ["OPENAI_MODEL"],
    tools=[calculate],
)
print(json.dumps({"answer": Runner.run_sync(solver, row["question"]).final_output}))
