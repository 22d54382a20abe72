"""Wrong answers, and the multi-turn conversations made of right and wrong ones."""
import os

from answers import work

RIGHT = "Congratulations! You are correct!"
WRONG = "Unfortunately your answer is wrong. Let's try again."
INSTRUCTIONS = [" Please reason step by step, and put your final answer within \\boxed{}.",
                " Put your final answer in \\boxed{}."]
SYSTEMS = ["You are a helpful assistant.", "You are a math assistant.",
           "You are a helpful assistant. Solve the math problem and put the final answer in \\boxed{}."]


def slip(r, value, x, y):
    """A near miss of value, the result of an operation on x and y."""
    for _ in range(50):
        t, sign = r.random(), r.choice((-1, 1))
        if t < .30:
            w = value + sign
        elif t < .40:
            w = value + 2 * sign
        elif t < .70:
            w = value + 10 * sign
        elif t < .78:
            w = value + 100 * sign
        elif t < .90:
            digits = list(str(value))
            digits[r.randrange(len(digits))] = str(r.randrange(10))
            w = int("".join(digits))
        else:
            w = value + sign * r.choice((x, y))
        if w >= 0 and w != value:
            return w
    return value + 1


OPENING = {"quick": "", "split": "Let me go step by step. ", "other": "Let me try another way. "}


def style_of_turn(i):
    return "quick" if i == 0 else "split" if i % 2 else "other"


def wrong_answer(r, p, style):
    """-> text, value of an answer with one slip, or now and then with a wrong operation"""
    for _ in range(20):
        if r.random() < .06:
            steps = [list(s) for s in p["steps"]]
            r.choice(steps)[0] = r.choice("+-*")
            text, value, _ = work(steps, style)
        else:
            spot = r.randrange(work(p["steps"], style)[2])
            text, value, _ = work(p["steps"], style, lambda n, v, x, y: slip(r, v, x, y) if n == spot else v)
        if value != p["answer"] and value < 10000:
            break
    return text, value


# ---------------------------------------------------------------- conversations
# A conversation is a list of (role, text, n): training predicts the first n characters of the text,
# and <|im_end|> when that is all of it.

def single(r, p):
    """One question, one right answer, in any style: for learning the arithmetic itself."""
    style = r.choices(("quick", "split", "other"), (.4, .33, .27))[0]
    text = OPENING[style] + work(p["steps"], style)[0]
    return [("user", p["question"], 0), ("assistant", text, len(text))]


def conversation(r, p, wrongs=None):
    """Some wrong answers (given, or made up), then the right one, then perhaps some congratulations.

    Of a wrong answer training predicts what it shares with the right one, never the slip or what follows it."""
    m = []
    if r.random() < .12:
        m.append(("system", r.choice(SYSTEMS), 0))
    m.append(("user", p["question"] + (r.choice(INSTRUCTIONS) if r.random() < .2 else ""), 0))
    count = len(wrongs) if wrongs is not None else 0 if r.random() < .3 else r.choices((1, 2, 3, 4), (.5, .27, .14, .09))[0]
    seen = set()
    for i in range(count):
        style = style_of_turn(i)
        right = OPENING[style] + work(p["steps"], style)[0]
        if wrongs is not None:
            text = wrongs[i]
        else:
            for _ in range(4):
                text, value = wrong_answer(r, p, style)
                if value not in seen:
                    break
            seen.add(value)
            text = OPENING[style] + text
        m += [("assistant", text, len(os.path.commonprefix([text, right]))), ("user", WRONG, 0)]
    style = style_of_turn(count)
    text = OPENING[style] + work(p["steps"], style)[0]
    m.append(("assistant", text, len(text)))
    if r.random() < .2:
        for _ in range(min(r.choices((1, 2, 3), (.6, .25, .15))[0], 4 - count)):
            text = f"Thank you! The answer is \\boxed{{{p['answer']}}}."
            m += [("user", RIGHT, 0), ("assistant", text, len(text))]
    return m
