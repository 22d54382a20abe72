"""Puts trained weights into the folder that ships: `python export.py --trained FOLDER --out models/tiny`.

The weights are rounded to float16 once, here; model.safetensors and onnx/model.onnx hold the same rounded values."""
import argparse
import json
import os
import sys

import numpy as np
import onnx
from safetensors.numpy import load_file, save_file

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "train"))
from onnx_graph import build_graph  # noqa: E402


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--trained", required=True)
    args.add_argument("--out", required=True, help="a folder with the configuration")
    args.add_argument("--heat", type=float, default=1.0,
                      help="divide the final norm's weight by this: what the trained model does at this temperature, the exported one does at 1")
    a = args.parse_args()
    os.makedirs(f"{a.out}/onnx", exist_ok=True)
    tensors = load_file(f"{a.trained}/model.safetensors")
    tensors["model.norm.weight"] = tensors["model.norm.weight"] / a.heat
    tensors = {k: v.astype(np.float16) for k, v in tensors.items()}
    save_file(tensors, f"{a.out}/model.safetensors", metadata={"format": "pt"})
    with open(f"{a.out}/config.json") as f:
        config = json.load(f)                    # its dtype stays float32: that is what the values are computed in
    os.chmod(f"{a.out}/model.safetensors", 0o644)
    onnx.save(build_graph({k: v.astype(np.float32) for k, v in tensors.items()}, config), f"{a.out}/onnx/model.onnx")
    for name in ("model.safetensors", "onnx/model.onnx"):
        print(name, os.path.getsize(f"{a.out}/{name}"), "bytes")


if __name__ == "__main__":
    main()
