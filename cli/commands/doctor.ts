// `everturn doctor`: tries everything that a run needs, one line each, with what to do. Starts no service and changes
// nothing but a file that it removes again.

import { type Command, Option } from 'commander';
import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { resolveOptions } from '../../run/config.ts';
import { resolvePlace } from '../../records/place.ts';
import { type Checked, type Check, checked, exitOf, type State } from '../doctor/check.ts';
import { bucketCheck, diskCheck, folderOfHome, nodeCheck, packageCheck, portsCheck } from '../doctor/machine.ts';
import { judgeCheck, modelCheck, sandboxCheck } from '../doctor/model.ts';
import { temporalCheck } from '../doctor/temporal.ts';
import type { ExitCode } from '../exit.ts';
import { jsonOption, outOption } from '../flags.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { plural } from '../view/format.ts';
import { type Paint, paintFor, type Tint } from '../view/paint.ts';
import { withAbsolutePaths } from '../play/absolute-paths.ts';

interface Flags {
  readonly out: string;
  readonly config?: string;
  readonly model?: string;
  readonly tokenizer?: string;
  readonly apiKeyEnv?: string;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .addOption(outOption())
    .addOption(new Option('--config <file>', 'options from a YAML or JSON file, as of run'))
    .addOption(new Option('--model <model>', 'the model to try, as of run (default: tiny)'))
    .addOption(new Option('--tokenizer <folder>', 'as of run'))
    .addOption(new Option('--api-key-env <name>', 'as of run'))
    .addOption(jsonOption('all findings as one JSON object on stdout'))
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing fails; else that of the first failure: 2 Node or disk, 4 Temporal, 5 the model, 1 the judge.\n' +
        'A missing sandbox is a note: only runs with code need one.\n\n' +
        'Example:\n  everturn doctor --model sglang:http://127.0.0.1:30000',
    )
    .action(async (flags: Flags) => exit(await doctor(io, flags)));
}

async function doctor(io: Io, flags: Flags): Promise<ExitCode> {
  const { out, config, model, tokenizer, apiKeyEnv } = flags;
  const resolved = resolveOptions({ configFile: config, environment: io.env, flags: { model, tokenizer, apiKeyEnv } });
  const options = withAbsolutePaths(resolved.options, io.cwd);
  const runs = resolvePlace(io.cwd, out);
  const checks: Check[] = [
    nodeCheck(),
    packageCheck,
    isBucketPlace(runs) ? bucketCheck('runs', runs) : diskCheck('runs', runs, '--out'),
    diskCheck('state', folderOfHome(io), 'EVERTURN_HOME'),
    portsCheck(io),
    temporalCheck(io, options.maxConcurrent),
    judgeCheck,
    modelCheck(io, options),
    sandboxCheck(io),
  ];
  const paint = paintFor(io.out, io.env);
  const found: Checked[] = [];
  for await (const one of checked(checks, io.now)) {
    found.push(one);
    if (!flags.json) print(io, lineOf(one, paint));
  }
  const code = exitOf(found);
  const count = (state: State) => found.filter((one) => one.state === state).length;
  if (flags.json) {
    printJson(io, { ok: count('fail') === 0, exitCode: code, checks: found.map(withoutCode) });
  } else {
    const failures = count('fail');
    say(
      io,
      failures === 0
        ? `Nothing fails${count('note') > 0 ? `; ${plural(count('note'), 'note')}` : ''}.`
        : `${plural(failures, 'check')} failed.`,
    );
  }
  return code;
}

function withoutCode(one: Checked): Omit<Checked, 'code'> {
  const { code: _, ...rest } = one;
  return rest;
}

const SIGNS: Readonly<Record<State, readonly [sign: string, tint: Tint]>> = {
  ok: ['✓', 'green'],
  note: ['!', 'yellow'],
  fail: ['✗', 'red'],
};

function lineOf({ check, state, said, fix }: Checked, paint: Paint): string {
  const [sign, tint] = SIGNS[state];
  const line = `${paint(tint, sign)} ${check.padEnd(9)} ${oneLine(said)}`;
  return fix === undefined ? line : `${line}\n${' '.repeat(12)}${paint('dim', `→ ${oneLine(fix)}`)}`;
}
