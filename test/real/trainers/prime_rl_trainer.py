"""prime-rl's trainer as far as a CPU takes it: its own settings (prime-rl.toml), file transport, data loader and loss, out of a checkout. Around
them is what its trainer/rl/train.py does with a model on GPUs: the broadcast at the start, a step, the broadcast with STABLE, the
checkpoint of every second step, and the older broadcast gone. Its log is read by examples/train/surviving.py.

    prime_rl_trainer.py <checkout> <output_dir> --steps 6 --seq-len 256 --log trained.jsonl"""
import argparse
import json
import os
import shutil
import sys
import tomllib
import types
from pathlib import Path

import torch
from pydantic import BaseModel
from transformers import AutoModelForCausalLM

args = argparse.ArgumentParser(description=__doc__)
args.add_argument("checkout")
args.add_argument("output_dir", type=Path)
args.add_argument("--steps", type=int, required=True)
args.add_argument("--seq-len", type=int, required=True)
args.add_argument("--log", required=True)
a = args.parse_args()
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../../examples/train"), os.path.join(a.checkout, "src"), os.path.join(a.checkout, "packages/prime-rl-configs/src")]
# prime-rl takes it from a repository; of a configuration the fields count here, and no others
strict = type("BaseConfig", (BaseModel,), {"model_config": {"extra": "forbid"}})
sys.modules["pydantic_config"] = types.SimpleNamespace(BaseConfig=strict, cli=None)

from policy import ROOT, publish, write_weights  # noqa: E402
from prime_rl.configs.trainer import TrainerConfig  # noqa: E402
from prime_rl.trainer.rl.data import DataLoader  # noqa: E402
from prime_rl.trainer.rl.loss import compute_loss, setup_rl_loss_fn  # noqa: E402
from prime_rl.utils.pathing import get_broadcast_dir, get_ckpt_dir, get_rollout_dir, get_step_path  # noqa: E402

with open(os.path.join(ROOT, "examples/train/from/prime-rl.toml"), "rb") as settings:
    config = TrainerConfig(**tomllib.load(settings))
torch.set_num_threads(1)
torch.manual_seed(0)
TINY = os.path.join(ROOT, "models/tiny")
model = AutoModelForCausalLM.from_pretrained(TINY, dtype=torch.float32)
optimizer = torch.optim.AdamW(model.parameters(), lr=config.optim.lr)


def folder_of(of, step):
    return get_step_path(of(a.output_dir), step)


def broadcast(step):
    """The weights as the shipped model's worker reads them: prime-rl's are for SGLang and vLLM."""
    folder = folder_of(get_broadcast_dir, step)
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    write_weights({name: value.detach().numpy() for name, value in model.named_parameters()}, TINY, str(part))
    shutil.rmtree(folder, ignore_errors=True)
    publish(str(part), str(folder))
    (folder / "STABLE").touch()
    shutil.rmtree(folder_of(get_broadcast_dir, step - 2), ignore_errors=True)


def logprobs_of(ids):
    """As the trainer aligns them: of each token at its own place, the first without a meaning."""
    logits = model(ids[None]).logits[0, :-1]
    return torch.cat([torch.zeros(1), logits.log_softmax(-1).gather(-1, ids[1:, None])[:, 0]])


def learn(batches):
    """One step on micro batches whose samples lie one behind the other. -> tokens that were trained"""
    trained = sum(int(batch["loss_mask"].sum()) for batch in batches)
    for batch in batches:
        lengths = batch["sequence_lengths"]
        parts = {name: batch[name][0].split(lengths) for name in ("input_ids", "advantages", "inference_logprobs", "loss_mask", "temperatures")}
        assert batch["input_ids"].shape[1] <= a.seq_len and all((one == 1).all() for one in parts["temperatures"])
        loss, metrics = compute_loss(
            trainer_logprobs=[logprobs_of(ids) for ids in parts["input_ids"]], inference_logprobs=parts["inference_logprobs"], ref_logprobs=None,
            advantages=parts["advantages"], loss_mask=parts["loss_mask"], rl_weights=None, ce_weights=None, ref_kl_weights=None,
            rl_loss_fn=setup_rl_loss_fn(config.loss), rl_scale=max(trained, 1), ce_scale=1, ref_kl_scale=1)
        loss.backward()
        # the policy of now sampled it, or the one before: else its masks would cut tokens out
        assert metrics["unmasked_mismatch_kl"].max() < 0.01, metrics
    optimizer.step()
    optimizer.zero_grad()
    return trained


def note(**line):
    with open(a.log, "a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


def main():
    saved = get_ckpt_dir(a.output_dir)
    saved.mkdir(parents=True, exist_ok=True)
    start = max((int(path.stem[5:]) for path in saved.glob("step_*.pt")), default=0)
    if start:
        state = torch.load(saved / f"step_{start}.pt", weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    note(event="started", version=start)
    broadcast(start)
    loader = DataLoader(a.output_dir, start + 1, 1, config.rollout_transport)
    for step in range(start + 1, a.steps + 1):
        loader.wait_for_batch()
        trained = learn(loader.get_batch())
        held = json.loads((folder_of(get_rollout_dir, step) / "everturn.json").read_text())
        note(event="trained", version=step, tokens=trained, **held)
        broadcast(step)
        if step % 2 == 0:
            part = saved / f"part-{step}"
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, part)
            part.rename(saved / f"step_{step}.pt")


main()
