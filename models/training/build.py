"""Everything in order: train, export, check, evaluate, write fixtures and examples.

    python build.py --work FOLDER          # FOLDER: outside the repository, for the float32 weights and the figures
"""
import argparse
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# keep freed memory in the process: returning and refaulting it costs nearly half of the time of a training step
MEMORY = {"MALLOC_MMAP_THRESHOLD_": "8000000000", "MALLOC_TRIM_THRESHOLD_": "8000000000", "MALLOC_TOP_PAD_": "200000000"}


def run(script, *arguments):
    started = time.time()
    subprocess.run([sys.executable, f"{HERE}/{script}", *arguments], check=True, env={**os.environ, **MEMORY})
    print(f"-- {script}: {(time.time() - started) / 60:.1f} min", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", required=True)
    work, model = args.parse_args().work, f"{ROOT}/models/tiny"
    run("train.py", "--out", f"{work}/trained")
    run("export.py", "--trained", f"{work}/trained", "--out", model, "--heat", "1.4")
    run("check.py", "--model", model)
    run("evaluate.py", "--model", model, "--out", f"{work}/figures.json", "--temperatures", "1", "0", "0.7")
    run("fixtures.py", "--model", model, "--tests", f"{ROOT}/test/fixtures", "--examples", f"{ROOT}/examples")


if __name__ == "__main__":
    main()
