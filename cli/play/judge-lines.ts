// Reads pairs, writes one verdict a line, in order, as soon as each is known. Memory holds the lines in flight.

import { resolve } from 'node:path';
import { availableParallelism } from 'node:os';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { type JudgeName, type PairRow, readPairs } from '../../formats/datasets/pairs.ts';
import type { BadRow } from '../../formats/datasets/dataset.ts';
import { saidProblem } from '../../formats/datasets/examine.ts';
import { badRowText } from '../../formats/datasets/row-fault.ts';
import { DatasetError } from '../../domain/errors/errors.ts';
import type { Verdict, VerdictValue } from '../../domain/rollout/verdict.ts';
import { createSolutionReader } from '../../environments/solution-reader.ts';
import { inRowOrder, judgePair } from '../../environments/judge-pairs.ts';
import { createCodeEnvironment } from '../../environments/code/code-environment.ts';
import { unsafeCodeAllowed } from '../../environments/code/consent.ts';
import type { Judge } from '../../environments/environment.ts';
import { createMathJudge } from '../../environments/math-environment.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { plural } from '../format.ts';
import { batchedJson, type Io, say } from '../io.ts';

const NAMED_BAD_LINES = 50;

export async function judgeLines(
  io: Io,
  pairs: string,
  judge: JudgeName | undefined,
  { unsafe, explain }: { readonly unsafe: boolean; readonly explain: boolean },
): Promise<ExitCode> {
  const [source, file] = pairs === '-' ? [io.input(), '(standard input)'] : [resolve(io.cwd, pairs), pairs];
  const judges = openJudges(io, unsafe);
  const reader = createSolutionReader(judges.math);
  const counts: Record<VerdictValue, number> = { right: 0, wrong: 0, undecided: 0, scored: 0, called: 0 };
  let bad = 0;
  const named = new Set<string>();
  const out = batchedJson(io);

  /** The first line is enough for a field that every line has. */
  function nameOnce(field: BadRow): void {
    const name = field.field ?? '';
    if (named.has(name) || named.size >= NAMED_BAD_LINES) return;
    named.add(name);
    say(io, oneLine(badRowText(field)));
  }

  async function judged(row: PairRow): Promise<readonly [id: string, Verdict]> {
    const problem = row.ok ? await saidProblem(row.stated, reader) : undefined;
    if (row.ok && !problem) {
      for (const note of row.notes) nameOnce(note);
      const pair = explain ? { ...row.pair, options: { ...row.pair.options, explain } } : row.pair;
      return [row.pair.id, await judgePair(pair, judges)];
    }
    const fault = row.ok ? problem && { file, line: row.line, ...problem } : row.bad;
    if (fault && ++bad <= NAMED_BAD_LINES) say(io, oneLine(badRowText(fault)));
    return [row.ok ? row.pair.id : row.id, { verdict: 'undecided', reason: 'bad-line' }];
  }

  try {
    const options = { ...IN_FLIGHT, weigh: (row: PairRow) => (row.ok ? row.chars : 0) };
    for await (const [id, judgement] of inRowOrder(readPairs(source, file, judge), judged, options)) {
      const { verdict, reason, extracted = null, ...more } = judgement;
      counts[verdict]++;
      out.print({ id, verdict, reason, extracted, ...more });
    }
  } finally {
    out.flush();
    await judges.close();
  }
  counts.undecided -= bad;
  const good = counts.right + counts.wrong + counts.undecided;
  if (bad > NAMED_BAD_LINES) say(io, `… and ${plural(bad - NAMED_BAD_LINES, 'more bad line')}`);
  if (good === 0) {
    throw new DatasetError(`${file} has no line that can be judged (${plural(bad, 'bad line')}).`, {
      reason: 'no-pairs',
      fix: 'A line is a JSON object with `answer` and `solutions`, or `answer` and `input_output`.',
    });
  }
  const rest = bad > 0 ? `; ${plural(bad, 'bad line')} not judged` : '';
  const { right, wrong, undecided } = counts;
  say(io, `${plural(good, 'answer')}: ${right} right, ${wrong} wrong, ${undecided} undecided${rest}.`);
  return EXIT.ok;
}

export type Judges = ReturnType<typeof openJudges>;

/** Judgements in one message to a child: as many again wait there, so that it never stands still. */
const BATCH = 128;
/** Answers in flight: enough to keep every core busy, and some queued; and their characters: a longer line is judged by itself. */
export const IN_FLIGHT = { atOnce: 3 * BATCH * availableParallelism(), mostWeight: 64 * 1024 * 1024 };

/** `unsafe`: the flag was given. `code` throws a SandboxError if there is no sandbox. */
export function openJudges(io: Io, unsafe: boolean) {
  const unsafeWithoutSandbox = unsafe || unsafeCodeAllowed(io.env);
  const math = createMathJudge({ children: availableParallelism(), batch: BATCH });
  let opened: Promise<Judge> | undefined;
  const code: Pick<Judge, 'judge'> = {
    judge: async (...judged) => (await (opened ??= createCodeEnvironment({ unsafeWithoutSandbox }))).judge(...judged),
  };
  return {
    ...{ math, code },
    async close() {
      math.close();
      await opened?.then(
        (judge) => judge.close(),
        () => undefined,
      );
    },
  };
}
