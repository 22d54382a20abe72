// `everturn judge <pairs>`: judges answers. `everturn judge --run <run>`: judges a run's answers again and compares
// the verdicts. Needs no model and no Temporal server.

import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import type { ExitCode } from '../exit.ts';
import { jsonOption, outOption, unsafeOption } from '../flags.ts';
import type { Io } from '../io.ts';
import { judgeLines } from '../play/judge-lines.ts';
import { judgeRun } from '../play/judge-run.ts';

interface Flags {
  readonly judge?: 'math' | 'code';
  readonly run?: string;
  readonly out: string;
  readonly name?: string;
  readonly environment?: string;
  readonly unsafeRunCodeWithoutSandbox?: boolean;
  readonly explain?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('[pairs]', 'a file of JSON lines {id, answer, solutions | input_output}; - reads standard input')
    .addOption(
      new Option('--judge <name>', 'for all lines (default: input_output means code)').choices(['math', 'code']),
    )
    .addOption(new Option('--run <run>', "judge a run's turns again: its name, or its folder"))
    .addOption(outOption())
    .addOption(new Option('--name <name>', "with --run: the file's name (default: version and time)"))
    .addOption(new Option('--environment <what>', 'with --run: an environment of your own judges, without a state'))
    .addOption(unsafeOption())
    .addOption(new Option('--explain', 'of pairs: say where each answer was found and what it was compared with'))
    .addOption(jsonOption('with --run: the summary as one JSON object; of pairs the output is JSON lines anyway'))
    .addHelpText('after', HELP)
    .action(async (pairs: string | undefined, flags: Flags) => {
      const unsafe = flags.unsafeRunCodeWithoutSandbox === true;
      if (flags.run === undefined) {
        if (pairs === undefined)
          throw usage('There is nothing to judge.', 'Name a file of pairs, or a run with --run.');
        if (flags.name !== undefined)
          throw usage('--name needs --run.', 'It names the file of the run’s new verdicts.');
        if (flags.environment !== undefined) throw usage('--environment needs --run.', 'It judges the turns of a run.');
        return exit(await judgeLines(io, pairs, flags.judge, { unsafe, explain: flags.explain === true }));
      }
      if (pairs !== undefined) throw usage('A file of pairs and --run exclude each other.', 'Give one of them.');
      if (flags.judge !== undefined)
        throw usage('--judge cannot be used with --run.', 'Each query’s task decides the judge.');
      if (flags.explain) throw usage('--explain cannot be used with --run.', 'Judge the pairs in question.');
      const { run, out, name, environment, json = false } = flags;
      exit(await judgeRun(io, { run, out, name, environment, unsafe, json }));
    });
}

function usage(message: string, fix: string): UsageError {
  return new UsageError(message, { reason: 'bad-arguments', fix });
}

const HELP = `
Pairs: each line that is not blank gives one line {"id", "verdict", "reason", "extracted"}, in the same order.
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
  everturn judge --run my-run`;
