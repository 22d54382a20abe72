"""Tools of a shop: everturn run rows.jsonl --tool examples/tools/shop.py (docs/tools.md)."""
from typing import Literal

from everturn import call_key, once, pure

PRICES = {"apple": 3, "pear": 4, "plum": 5}


@pure
def price(fruit: str) -> int:
    """The price of one fruit.

    Args:
        fruit: its name, in English
    """
    return PRICES[fruit]


@once(timeout_seconds=30)
def order(fruit: Literal["apple", "pear", "plum"], count: int = 1) -> dict:
    """Orders fruit."""
    return {"ordered": count, "fruit": fruit, "total": PRICES[fruit] * count, "receipt": call_key()}
