"""Makes verl.parquet and verl-zstd.parquet: rows as verl's own preprocessing writes them (pandas, pyarrow), and one row that is bad."""

import sys

import pyarrow as pa
import pyarrow.parquet as pq

rows = [
    {
        "data_source": "openai/gsm8k",
        "prompt": [{"role": "user", "content": f"{question} Let's think step by step."}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": truth},
        "extra_info": {"split": "train", "index": index, "answer": "…", "question": question},
    }
    for index, (question, truth) in enumerate([("What is 48 + 24?", "72"), ("Half of 3, as a decimal?", "1.5"), ("?", None)])
]
pq.write_table(pa.Table.from_pylist(rows), sys.argv[1], row_group_size=2, compression=sys.argv[2])
