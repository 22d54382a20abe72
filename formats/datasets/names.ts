// The field names of data sets. A name is exact; each is also accepted with a capital first letter, as in AIME, SVAMP and
// TheoremQA. Null counts as absent, because exports of tables fill every column.

export type RowObject = Readonly<Record<string, unknown>>;

export interface Found {
  /** The field's name as written in the row. */
  readonly field: string;
  readonly value: unknown;
}

/** The present fields among these names, in this order. */
export function found(row: RowObject, names: readonly string[]): Found[] {
  const all: Found[] = [];
  for (const name of names) {
    for (const field of [name, name[0]!.toUpperCase() + name.slice(1)]) {
      if (Object.hasOwn(row, field) && row[field] != null) all.push({ field, value: row[field] });
    }
  }
  return all;
}

export const PROMPTS = ['prompt', 'messages', 'question', 'problem'] as const;

/** Fields with a reference answer, the deciding one first. MGSM's `answer` is prose beside its `answer_number`. */
export const ANSWER_FIELDS = ['answer_number', 'answer', 'final_answer', 'expected_answer', 'ground_truth'] as const;
export const WORKED = ['solutions', 'solution'] as const;

/** The first two are ours, then AIME's and MATH-500's; a row has one of them, or none. */
export const ID_FIELDS = ['query_id', 'id', 'ID', 'unique_id'] as const;
