"""Five-turn episodes on held-out problems: `python evaluate.py --model models/tiny --out figures.json`.

The context grows as ids, as in the product: the sampled ids stay, the feedback is tokenized and appended."""
import argparse
import json
import time
from collections import Counter

import torch
from safetensors.torch import load_file

from answers import RIGHT, WRONG
from network import Llama, sample
from problems import heldout_problems
from scoring import boxed
from tokenizer import END, load_tokenizer, render


def load(folder):
    """The shipped weights, computed in float32."""
    tok = load_tokenizer(folder)
    model = Llama(tok.get_vocab_size())
    model.load_state_dict({k: v.float() for k, v in load_file(f"{folder}/model.safetensors").items()})
    return tok, model.eval()


def episodes(tok, model, problems, turns=5, temperature=1.0, seed=11):
    """-> for each problem its turns as (text, tokens, right, value), and the ids of the whole conversation"""
    generator, end = torch.Generator().manual_seed(seed), tok.token_to_id(END)

    def encode(text):
        return tok.encode(text, add_special_tokens=False).ids
    feedback = {ok: encode("\n" + render([("user", RIGHT if ok else WRONG)], True)) for ok in (True, False)}
    contexts = [encode(render([("user", p["question"])], True)) for p in problems]
    history = [[] for _ in problems]
    for turn in range(turns):
        for i, ids in enumerate(sample(model, contexts, generator, temperature, eos=end)):
            text = tok.decode([t for t in ids if t != end], skip_special_tokens=False)
            value = boxed(text)
            ok = value == str(problems[i]["answer"])
            history[i].append((text, len(ids), ok, value))
            contexts[i] = contexts[i] + ids + ([] if ids[-1] == end else [end])
            if turn + 1 < turns:
                contexts[i] = contexts[i] + feedback[ok]
    return history, contexts


def share(hits):
    hits = list(hits)
    return [round(sum(hits) / max(1, len(hits)), 4), len(hits)]


def report(history, problems):
    n, turns = len(history), range(len(history[0]))
    right = [[t[2] for t in h] for h in history]
    kinds = Counter(p["kind"] for p in problems)

    def of_kind(k, first):
        return sum(any(r[:first]) for r, p in zip(right, problems) if p["kind"] == k) / kinds[k]
    retries = [(h[t][3] in {x[3] for x in h[:t]}) for h in history for t in turns if t and not any(x[2] for x in h[:t])]
    retries_from_3 = [(h[t][3] in {x[3] for x in h[:t]}) for h in history for t in turns if t > 1 and not any(x[2] for x in h[:t])]
    return {
        "problems": n,
        "right_at_turn": [round(sum(r[t] for r in right) / n, 4) for t in turns],
        "right_so_far_by_turn": [round(sum(any(r[:t + 1]) for r in right) / n, 4) for t in turns],
        "right_given_all_earlier_wrong": [share(r[t] for r in right if not any(r[:t])) for t in turns],
        "right_after_congratulation": share(r[t + 1] for r in right for t in turns[:-1] if r[t]),
        "retry_repeats_a_tried_number": share(retries),
        "retry_repeats_a_tried_number_from_turn_3": share(retries_from_3),
        "no_box": round(sum(t[3] is None for h in history for t in h) / (n * len(turns)), 4),
        "tokens_per_answer": [round(sum(h[t][1] for h in history) / n, 1) for t in turns],
        "tokens_per_retry": round(sum(h[t][1] for h, r in zip(history, right) for t in turns if t and not any(r[:t]))
                                  / max(1, len(retries)), 1),
        "by_kind_first_and_within_5": {k: [round(of_kind(k, 1), 3), round(of_kind(k, 5), 3), kinds[k]] for k in kinds}}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--model", required=True)
    args.add_argument("--out")
    args.add_argument("--problems", type=int, default=1200)
    args.add_argument("--temperatures", type=float, nargs="+", default=[1.0, 0.0])
    args.add_argument("--show", type=int, default=0, help="print so many episodes")
    a = args.parse_args()
    torch.set_num_threads(1)
    tok, model = load(a.model)
    problems, figures = heldout_problems(a.problems), {}
    for temperature in a.temperatures:
        started = time.time()
        history, contexts = episodes(tok, model, problems, temperature=temperature)
        name = f"T={temperature:g}" if temperature else "greedy"
        figures[name] = report(history, problems)
        print(name, f"{time.time() - started:.0f} s", json.dumps(figures[name]), "longest", max(map(len, contexts)), flush=True)
        for p, h in list(zip(problems, history))[:a.show]:
            print(p["question"], p["answer"], *(f"\n  {ok} {text}" for text, _, ok, _ in h))
    if a.out:
        with open(a.out, "w") as f:
            json.dump(figures, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
