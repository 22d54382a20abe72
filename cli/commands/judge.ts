// `everturn judge <pairs>`: judges answers. `everturn judge --run <run>`: judges a run's answers again and compares
// the verdicts. Needs no model and no Temporal server.

import { DatasetError } from '../../domain/errors/errors.ts';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import type { BadRow } from '../../formats/datasets/dataset.ts';
import { badRowText } from '../../formats/datasets/row-fault.ts';
import { shortPath } from '../../library/command-line.ts';
import { type JudgedRun, judgeRun } from '../../library/judge-run.ts';
import { judgedPairs, type JudgeOptions } from '../../library/judge-pairs.ts';
import { type Answer, choiceFlag, command, flag, text, unusable } from '../command.ts';
import { EXIT } from '../exit.ts';
import { findRun } from '../find/place.ts';
import { OUT, UNSAFE } from '../flags.ts';
import { type Column, count, lines, paintFor, plural, table } from '../format.ts';
import { batchedJson, type Io, say } from '../io.ts';
import { callerOf } from '../play/say-event.ts';

export const judge = command({
  args: { '[pairs]': 'a file of JSON lines {id, answer, solutions | input_output}; - reads standard input' },
  flags: {
    judge: choiceFlag('<name>', ['math', 'code'], 'for all lines (default: input_output means code)'),
    run: text('<run>', "judge a run's turns again: its name, or its folder"),
    out: OUT,
    name: text('<name>', "with --run: the file's name (default: version and time)"),
    environment: text('<what>', 'with --run: an environment of your own judges, without a state'),
    unsafeRunCodeWithoutSandbox: UNSAFE,
    explain: flag('of pairs: say where each answer was found and what it was compared with'),
    json: flag('with --run: the summary as one JSON object; of pairs the output is JSON lines anyway'),
  },
  help: `Pairs: each line that is not blank gives one line {"id", "verdict", "reason", "extracted"}, in the same order.
A line may carry the "question" that was asked, and "options": {"decimals": 2,
"strict": false, "cut": true}: cut says that a limit ended the answer. Without an "id" it goes by its number.
With --explain a line also has "found" (box, hash, tag, phrase, whole, last, choice or word: how the final answer was
found) and "against" (the solution's final answer).
A field that nothing reads is named on stderr, once. A bad line is named there by file, line and field, counted, and gives
"undecided" with reason "bad-line".

A run: the turns that were judged are judged again. The new verdicts go to <run>/judgements/<name>.jsonl, the old
ones stay as they are; a table says what changed.

Exit codes: 0 at least one answer could be judged, whatever the verdict; 2 usage; 6 none could (no file, no good
line, no judged turn); 7 there is code and no sandbox.

Example:
  everturn judge pairs.jsonl
  echo '{"answer": "It is \\\\boxed{0.5}.", "solutions": ["1/2"]}' | everturn judge -
  everturn judge --run my-run`,
  async run(io, given) {
    const { pairs, run, name, environment, explain } = given;
    if (run !== undefined) {
      if (pairs !== undefined) throw wrong('A file of pairs and --run exclude each other.', 'Give one of them.');
      if (given.judge !== undefined)
        throw wrong('--judge cannot be used with --run.', 'Each query’s task decides the judge.');
      if (explain) throw wrong('--explain cannot be used with --run.', 'Judge the pairs in question.');
      const place = await findRun(io, run, given.out);
      const found = await judgeRun(place, callerOf(io), given);
      const code = found.leftOut.broken > 0 ? EXIT.breach : EXIT.ok;
      return { json: found, text: changesText(io, found, `${place.store.folder}/${found.file}`), code };
    }
    if (pairs === undefined) throw wrong('There is nothing to judge.', 'Name a file of pairs, or a run with --run.');
    if (name !== undefined) throw wrong('--name needs --run.', 'It names the file of the run’s new verdicts.');
    if (environment !== undefined) throw wrong('--environment needs --run.', 'It judges the turns of a run.');
    return judgeLines(io, pairs, given);
  },
});

const wrong = (message: string, fix: string) => unusable(message, fix, 'bad-arguments');

const NAMED_BAD_LINES = 50;

async function judgeLines(io: Io, pairs: string, given: JudgeOptions): Promise<Answer> {
  const counts: Record<VerdictValue, number> = { right: 0, wrong: 0, undecided: 0, scored: 0, called: 0 };
  let bad = 0;
  const named = new Set<string>();
  const { judge, explain, unsafeRunCodeWithoutSandbox } = given;
  const { cwd, env } = io;
  const options: JudgeOptions = {
    ...{ cwd, env, judge, explain, unsafeRunCodeWithoutSandbox },
    /** The first line is enough for a field that every line has. */
    onNote(field: BadRow) {
      const name = field.field ?? '';
      if (named.has(name) || named.size >= NAMED_BAD_LINES) return;
      named.add(name);
      say(io, oneLine(badRowText(field)));
    },
    onBad: (line: BadRow) => void (++bad <= NAMED_BAD_LINES && say(io, oneLine(badRowText(line)))),
  };
  const out = batchedJson(io);
  try {
    for await (const { id, verdict, reason, extracted = null, ...more } of judgedPairs(
      pairs === '-' ? io.input() : pairs,
      options,
    )) {
      counts[verdict]++;
      out.print({ id, verdict, reason, extracted, ...more });
    }
  } finally {
    out.flush();
  }
  counts.undecided -= bad;
  const good = counts.right + counts.wrong + counts.undecided;
  if (bad > NAMED_BAD_LINES) say(io, `… and ${plural(bad - NAMED_BAD_LINES, 'more bad line')}`);
  if (good === 0) {
    const file = pairs === '-' ? '(standard input)' : pairs;
    throw new DatasetError(`${file} has no line that can be judged (${plural(bad, 'bad line')}).`, {
      reason: 'no-pairs',
      fix: 'A line is a JSON object with `answer` and `solutions`, or `answer` and `input_output`.',
    });
  }
  const rest = bad > 0 ? `; ${plural(bad, 'bad line')} not judged` : '';
  const { right, wrong, undecided } = counts;
  return { notes: [`${plural(good, 'answer')}: ${right} right, ${wrong} wrong, ${undecided} undecided${rest}.`] };
}

type Change = JudgedRun['verdicts'][number];

function changesText(io: Io, found: JudgedRun, file: string): string {
  const { turns, changed, otherReason, verdicts, examples, leftOut } = found;
  const tint = ({ was, now }: Change) => (was === now ? undefined : 'yellow');
  const columns: Column<Change>[] = [
    ['was', ({ was }) => was, tint],
    ['now', ({ now }) => now, tint],
    ['>turns', (change) => count(change.turns), tint],
  ];
  const reasons = otherReason > 0 ? `; ${count(otherReason)} alike for another reason` : '';
  return lines(
    table(verdicts, columns, paintFor(io.out, io.env)),
    '',
    `${plural(turns, 'turn')}, ${changed === 0 ? 'none' : count(changed)} judged differently${reasons}.`,
    examples.map((row) => `  ${exampleText(row)}`),
    changed > examples.length && `  … and ${count(changed - examples.length)} more`,
    leftOut.unjudged > 0 && `Left out: ${plural(leftOut.unjudged, 'turn')} without a verdict.`,
    leftOut.broken > 0 && `Left out: ${plural(leftOut.broken, 'rollout')} with damaged records.`,
    `The new verdicts are in ${shortPath(io, file)}; the run's own are unchanged.`,
  ).join('\n');
}

const SHOWN_CHARS = 60;

function exampleText({ query, sample, attempt, turn, ...row }: JudgedRun['examples'][number]): string {
  const { was, verdict, reason, extracted } = row;
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  const found = extracted === undefined ? '' : `: ${oneLine(extracted).slice(0, SHOWN_CHARS)}`;
  const change = `${was.verdict} (${was.reason}) → ${verdict} (${reason})`;
  return `${oneLine(query)}, sample ${sample}${again}, turn ${turn}: ${change}${found}`;
}
