# A judge that breaks on one row in ten (docs/why.md).
def reward(row, answer):
    if row["query_id"].endswith("3"):
        raise RuntimeError("the grader's container is gone")
    return row["solutions"][0].split("\\boxed")[-1] in answer
