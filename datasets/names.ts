// The names that data sets give their fields. A name is exact; each is also known with its first letter a capital,
// as AIME, SVAMP and TheoremQA write them. Null counts as absent, as exports of tables fill every column.

export type RowObject = Readonly<Record<string, unknown>>;

export interface Found {
  /** As the row writes it. */
  readonly field: string;
  readonly value: unknown;
}

/** The fields of these names that are there, in this order. */
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

/** Fields that say what is right, the one that decides first. MGSM's `answer` is prose beside its `answer_number`. */
export const ANSWERS = ['answer_number', 'answer', 'final_answer', 'expected_answer', 'ground_truth'] as const;
export const WORKED = ['solutions', 'solution'] as const;

/** Hugging Face's MATH-500 and AIME; a row has one of them, or none. */
export const IDS = ['query_id', 'id', 'ID', 'unique_id'] as const;
