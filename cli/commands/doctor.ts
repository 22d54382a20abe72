// `everturn doctor`: tries everything that a run needs, one line each, with what to do. Starts no service and changes
// nothing but a file that it removes again.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { homeOf } from '../../local/service/home.ts';
import { resolvePlace } from '../../records/place.ts';
import { resolveOptions } from '../../run/config.ts';
import { command, flag, text } from '../command.ts';
import { type Check, type Checked, checked, exitOf, type State } from '../doctor/check.ts';
import { nodeCheck, placeCheck, portsCheck } from '../doctor/machine.ts';
import { judgeCheck, modelCheck, sandboxCheck } from '../doctor/model.ts';
import { temporalCheck } from '../doctor/temporal.ts';
import { OUT } from '../flags.ts';
import { print } from '../io.ts';
import { type Paint, paintFor, plural, type Tint } from '../format.ts';
import { withAbsolutePaths } from '../../run/model.ts';

export const doctor = command({
  flags: {
    out: OUT,
    config: text('<file>', 'options from a YAML or JSON file, as of run'),
    model: text('<model>', 'the model to try, as of run (default: tiny)'),
    tokenizer: text('<folder>', 'as of run'),
    apiKeyEnv: text('<name>', 'as of run'),
    json: flag('all findings as one JSON object on stdout'),
  },
  help:
    'Exit codes: 0 nothing fails; else that of the first failure: 2 Node or disk, 4 Temporal, 5 the model, 1 the judge.\n' +
    'A missing sandbox is a note: only runs with code need one.\n\n' +
    'Example:\n  everturn doctor --model sglang:http://127.0.0.1:30000',
  async run(io, { out, config, model, tokenizer, apiKeyEnv, json }) {
    const flags = { model, tokenizer, apiKeyEnv };
    const resolved = resolveOptions({ configFile: config, environment: io.env, flags });
    const options = withAbsolutePaths(resolved.options, io.cwd);
    const runs = resolvePlace(io.cwd, out);
    const checks: Check[] = [
      nodeCheck(),
      placeCheck('runs', runs, '--out'),
      placeCheck('state', homeOf(io.env).folder, 'EVERTURN_HOME'),
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
      if (!json) print(io, lineOf(one, paint));
    }
    const code = exitOf(found);
    const [failures, notes] = (['fail', 'note'] as const).map((of) => found.filter(({ state }) => state === of).length);
    const noted = notes! > 0 ? `; ${plural(notes!, 'note')}` : '';
    return {
      json: { ok: failures === 0, exitCode: code, checks: found.map(({ code: _code, ...shown }) => shown) },
      about: [failures === 0 ? `Nothing fails${noted}.` : `${plural(failures!, 'check')} failed.`],
      code,
    };
  },
});

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
