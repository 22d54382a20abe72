// `everturn report`: a run as one HTML file, to send or to archive. Reads the run's folder only, needs no Temporal.

import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors.ts';
import { fileError } from '../../storage/disk/errors.ts';
import { replaceFile } from '../../storage/disk/write-once.ts';
import { createApi } from '../../viewer/api.ts';
import { makeReport } from '../../viewer/report.ts';
import { openRuns } from '../../viewer/runs.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRun, shortPath } from '../find/place.ts';
import { whole } from '../find/rollout.ts';
import { bundle, decoderOf } from '../find/viewer.ts';
import { jsonOption } from '../flags.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { count, plural } from '../view/format.ts';

interface Flags {
  readonly runs: string;
  readonly out?: string;
  readonly rollouts: string;
  readonly tokens?: boolean;
  readonly overwrite?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "the run's name, or its folder")
    .addOption(new Option('--out <file>', 'the HTML file (default: <run>.html)'))
    .addOption(new Option('--runs <dir>', 'the folder that holds runs').default('runs', './runs'))
    .addOption(
      new Option('--rollouts <n>', 'whole rollouts in it, failures first, then a seeded sample; or `all`').default(
        '200',
      ),
    )
    .addOption(new Option('--tokens', 'with the tokens of these rollouts and their logprobs, to four digits'))
    .addOption(new Option('--overwrite', 'replace an existing file once the new one is complete'))
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  everturn report my-run --out first.html')
    .action(async (named: string, flags: Flags) => exit(await report(io, named, flags)));
}

async function report(io: Io, named: string, flags: Flags): Promise<ExitCode> {
  const { out, run } = await findRun(io, named, flags.runs);
  const file = resolve(io.cwd, flags.out ?? `${run}.html`);
  const rollouts = flags.rollouts === 'all' ? Number.MAX_SAFE_INTEGER : whole('--rollouts', flags.rollouts, 0);
  const runs = openRuns(out);
  const api = createApi({ runs, decoderOf: (open) => decoderOf(open, io.cwd), now: io.now });
  try {
    const made = await makeReport({ api, runs, bundle: bundle() }, run, { rollouts, tokens: flags.tokens === true });
    await write(file, made.html, flags.overwrite === true);
    const facts = { file, bytes: Buffer.byteLength(made.html), rollouts: made.rollouts, leftOut: made.left };
    if (flags.json === true) printJson(io, facts);
    else {
      print(io, shortPath(io, file));
      say(
        io,
        `${plural(made.rollouts, 'whole rollout')}, ${count(facts.bytes / 1000)} kB. It opens from disk and asks for nothing.`,
      );
      say(io, `Left out: ${made.left.join('; ')}.`);
    }
  } finally {
    runs.close();
  }
  return EXIT.ok;
}

async function write(file: string, html: string, replace: boolean): Promise<void> {
  try {
    if (replace) return await replaceFile(file, Buffer.from(html));
    const handle = await open(file, 'wx');
    await handle.writeFile(html).finally(() => handle.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileError('write', file, error);
    throw new UsageError(`${file} is there already.`, { reason: 'file-exists', fix: '--overwrite replaces it.' });
  }
}
