#!/bin/sh
# Installs what consumers of exports can be installed on a CPU, and runs their own code over our files. Opt-in.
# EVERTURN_TRAINERS_PYTHON: a Python that has them already. EVERTURN_TRAINERS_SOURCES: checkouts, see README.md.
set -eu
CACHE="${EVERTURN_TRAINERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/everturn/trainers}"
if [ -z "${EVERTURN_TRAINERS_PYTHON:-}" ]; then
  [ -x "$CACHE/venv/bin/python" ] || python3 -m venv "$CACHE/venv"
  nice -n 10 "$CACHE/venv/bin/pip" install --quiet datasets pyarrow duckdb msgspec numpy pyzmq orjson tinker verifiers loguru httpx torch transformers trl onnx safetensors tokenizers
  # The frameworks without what only their GPU workers need: with it, their demands exclude each other.
  nice -n 10 "$CACHE/venv/bin/pip" install --quiet accelerate aiofiles beartype cachetools codetiming colorlog dill einops fastapi flask func_timeout \
    hydra-core jaxtyping lark numba openai peft pillow polars pybase64 pylatexenc 'ray[default]' tabulate tenacity 'tensordict<=0.10.0,!=0.9.0' torchdata uvicorn \
    uvloop wandb
  nice -n 10 "$CACHE/venv/bin/pip" install --quiet --no-deps areal==1.0.4 openrlhf==0.11.2 skyrl==0.3.0 skyrl-gym verl==0.9.1 TransferQueue==0.1.11
  export EVERTURN_TRAINERS_PYTHON="$CACHE/venv/bin/python"
fi
if [ -z "${EVERTURN_TRAINERS_SOURCES:-}" ]; then
  export EVERTURN_TRAINERS_SOURCES="$CACHE/sources"
  mkdir -p "$EVERTURN_TRAINERS_SOURCES"
  while read -r name repository commit; do
    place="$EVERTURN_TRAINERS_SOURCES/$name"
    [ -d "$place/.git" ] && continue
    git clone --quiet --filter=blob:none --no-checkout "https://github.com/$repository" "$place" &&
      git -C "$place" checkout --quiet "$commit" || { echo "$name could not be fetched: it is skipped" >&2; rm -rf "$place"; }
  done <<LIST
areal inclusionAI/AReaL 820ca498b72d
areal-now areal-project/AReaL cbff54d645d2cd8ee1f1c358a82f3f473588433d
slime THUDM/slime 624b824a898ab0ec1fcb4d373004c7f3852bf515
prime-rl PrimeIntellect-ai/prime-rl 559b44772e471d1538537b8805cc77f3824a5e64
LIST
fi
if [ -z "${EVERTURN_INSPECT_PYTHON:-}" ]; then
  [ -x "$CACHE/inspect/bin/python" ] || python3 -m venv "$CACHE/inspect"
  nice -n 10 "$CACHE/inspect/bin/pip" install --quiet inspect-ai==0.3.285
  export EVERTURN_INSPECT_PYTHON="$CACHE/inspect/bin/python"
fi
exec nice -n 10 npx vitest run --project trainers --maxWorkers=1
