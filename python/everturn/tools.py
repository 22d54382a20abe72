"""Tools in Python: each public function of a module with type hints and a docstring is one (docs/tools.md).

    from everturn import pure

    @pure
    def price(fruit: str) -> float:
        \"\"\"The price of one fruit.

        Args:
            fruit: its name, in English
        \"\"\"
"""
import inspect
import re
import typing

_state = {"key": None}


class Outage(Exception):
    """The tool could not be reached. The model never sees it, and the call may be tried again."""


class Unfit(Exception):
    """The module cannot be used. The message is complete."""


def call_key():
    """The idempotency key of this call: the same for each retry of it."""
    return _state["key"]


def _effect(name):
    def mark(function=None, *, timeout_seconds=None):
        def marked(one):
            one.__everturn__ = {"effect": name, **({} if timeout_seconds is None else {"timeoutSeconds": timeout_seconds})}
            return one

        return marked if function is None else marked(function)

    mark.__doc__ = f"The function is a tool with the effect `{name}`. timeout_seconds: the limit of one call."
    return mark


pure, idempotent, once = _effect("pure"), _effect("idempotent"), _effect("once")


def tools_of(module):
    """{name: (what it declares, function)} of the functions that the module defines."""
    found = {}
    for name, function in vars(module).items():
        own = inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
        if own and (function.__doc__ or hasattr(function, "__everturn__")):
            found[name] = (_declared(name, function), function)
    if not found:
        raise Unfit("it defines no tool: a public function with type hints and a docstring")
    return found


def _declared(name, function):
    text, words = _doc(function.__doc__)
    if not text:
        raise Unfit(f"{name} has no docstring, which tells the model what it does")
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        raise Unfit(f"the type hints of {name} cannot be read: {error}") from error
    properties, required = {}, []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise Unfit(f"{name}: the parameter `{parameter.name}` cannot be named in a call; give each a name of its own")
        if parameter.name not in hints:
            raise Unfit(f"{name}: the parameter `{parameter.name}` has no type hint")
        schema = _schema(hints[parameter.name], f"{name}: the parameter `{parameter.name}`")
        if parameter.name in words:
            schema = {**schema, "description": words[parameter.name]}
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif isinstance(parameter.default, (str, int, float, bool)):
            schema = {**schema, "default": parameter.default}
        properties[parameter.name] = schema
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": name, "description": text, "parameters": parameters, **getattr(function, "__everturn__", {})}


def _doc(text):
    """What comes before `Args:`, and {parameter: what the section says of it}."""
    before, _, after = inspect.cleandoc(text or "").partition("\nArgs:\n")
    section, *_ = re.split(r"\n(?=\S)", after, maxsplit=1)
    words = {}
    for found in re.finditer(r"^ +(\w+)(?: *\([^)]*\))?: +(.+(?:\n {6,}\S.*)*)", section, re.M):
        words[found[1]] = " ".join(found[2].split())
    return re.split(r"\n(?:Returns|Raises):\n", before)[0].strip(), words


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null", list: "array", dict: "object"}


def _schema(hint, what):
    """The JSON schema of a type hint."""
    if hint is typing.Any:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hasattr(hint, "__metadata__"):
        said = [one for one in hint.__metadata__ if isinstance(one, str)]
        return {**_schema(inner[0], what), **({"description": said[0]} if said else {})}
    if origin is typing.Literal:
        return {"enum": list(inner)}
    if origin is list:
        return {"type": "array", "items": _schema(inner[0], what)}
    if origin is dict and inner[0] is str:
        return {"type": "object", "additionalProperties": _schema(inner[1], what)}
    if origin is typing.Union or type(hint).__name__ == "UnionType":
        return {"anyOf": [_schema(one, what) for one in inner]}
    if hasattr(hint, "__required_keys__"):
        fields = {name: _schema(one, what) for name, one in typing.get_type_hints(hint).items()}
        return {"type": "object", "properties": fields, "required": sorted(hint.__required_keys__), "additionalProperties": False}
    raise Unfit(f"{what} has the type {hint!r}, which JSON does not have; use str, int, float, bool, list, dict, Literal or a TypedDict")
