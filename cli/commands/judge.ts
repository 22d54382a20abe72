// `everturn judge <pairs>`: judges answers. `everturn judge --run <run>`: judges a run's answers again and compares
// the verdicts. Needs no model and no Temporal server.

import { command, flag, choiceFlag, text, unusable } from '../command.ts';
import { OUT, UNSAFE } from '../flags.ts';
import { judgeLines } from '../play/judge-lines.ts';
import { judgeRun } from '../play/judge-run.ts';

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
    const { pairs, run, name, environment, explain, unsafeRunCodeWithoutSandbox: unsafe } = given;
    if (run !== undefined) {
      if (pairs !== undefined) throw wrong('A file of pairs and --run exclude each other.', 'Give one of them.');
      if (given.judge !== undefined)
        throw wrong('--judge cannot be used with --run.', 'Each query’s task decides the judge.');
      if (explain) throw wrong('--explain cannot be used with --run.', 'Judge the pairs in question.');
      return judgeRun(io, { run, out: given.out, name, environment, unsafe });
    }
    if (pairs === undefined) throw wrong('There is nothing to judge.', 'Name a file of pairs, or a run with --run.');
    if (name !== undefined) throw wrong('--name needs --run.', 'It names the file of the run’s new verdicts.');
    if (environment !== undefined) throw wrong('--environment needs --run.', 'It judges the turns of a run.');
    return judgeLines(io, pairs, given.judge, { unsafe, explain });
  },
});

const wrong = (message: string, fix: string) => unusable(message, fix, 'bad-arguments');
