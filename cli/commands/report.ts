// `everturn report`: a run, or two compared, as one HTML file to send or to archive, or as a folder for a static host. Reads the run's folder only, needs no Temporal.

import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import { writeFileAt } from '../../records/export-run.ts';
import { createApi } from '../../viewer/api.ts';
import { makeReport } from '../../viewer/report.ts';
import { openRuns } from '../../viewer/runs.ts';
import { writeSite } from '../../viewer/site.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { mustHoldAll } from '../../records/present.ts';
import { findRun, type RunPlace, shortPath } from '../find/place.ts';
import { whole } from '../find/rollout.ts';
import { bundle, decoderOf } from '../find/viewer.ts';
import { jsonOption } from '../flags.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { count, plural } from '../view/format.ts';

interface Flags {
  readonly runs: string;
  readonly out?: string;
  readonly site?: string;
  readonly compare?: string;
  readonly rollouts?: string;
  readonly tokens?: boolean;
  readonly overwrite?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "the run's name, or its folder")
    .addOption(new Option('--out <file>', 'the HTML file (default: <run>.html)'))
    .addOption(new Option('--runs <dir>', 'the folder that holds runs').default('runs', './runs'))
    .addOption(new Option('--site <folder>', 'a folder for a static host instead of one file').conflicts('out'))
    .addOption(new Option('--compare <run>', 'with a second run of the same queries, and the comparison of both'))
    .addOption(
      new Option(
        '--rollouts <n>',
        `whole rollouts of a run, failures first, then a seeded sample; or \`all\` (default: ${IN_FILE}; for a site ${IN_SITE})`,
      ),
    )
    .addOption(new Option('--tokens', 'with the tokens of these rollouts and their logprobs, to four digits'))
    .addOption(new Option('--overwrite', 'replace an existing file once the new one is complete'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExample:\n  everturn report my-run --out first.html\n  everturn report base --compare tuned --site public',
    )
    .action(async (named: string, flags: Flags) => exit(await report(io, named, flags)));
}

async function report(io: Io, named: string, flags: Flags): Promise<ExitCode> {
  const place = await findRun(io, named, flags.runs);
  await mustHoldAll(place.store);
  const { out, run } = place;
  const other = flags.compare === undefined ? undefined : await findRun(io, flags.compare, flags.runs);
  if (other) await mustHoldAll(other.store);
  if (other) mustBeBeside(place, other);
  const rollouts = rolloutsOf(flags);
  const runs = openRuns(out);
  const api = createApi({ runs, decoderOf: (open) => decoderOf(open, io.cwd), now: io.now });
  const parts = { api, runs, bundle: bundle() };
  const options = { rollouts, tokens: flags.tokens === true, ...(other && { compare: other.run }) };
  const replace = flags.overwrite === true;
  try {
    if (flags.site !== undefined) {
      const folder = resolve(io.cwd, flags.site);
      const { left, ...made } = await writeSite(parts, run, { ...options, folder, replace });
      const facts = { folder, ...made, leftOut: left };
      const files = `${plural(made.files, 'file')}, ${count(made.bytes / 1000)} kB. Copy the folder to any static host; its addresses are relative.`;
      announce(io, flags, folder, facts, `${plural(made.rollouts, 'whole rollout')} in ${files}`);
    } else {
      const file = resolve(io.cwd, flags.out ?? `${run}${other ? `-${other.run}` : ''}.html`);
      const { left, html, ...made } = await makeReport(parts, run, options);
      await writeFileAt(file, replace, (device) => device.appendFile(html));
      const facts = { file, bytes: Buffer.byteLength(html), ...made, leftOut: left };
      const size = `${count(facts.bytes / 1000)} kB. It opens from disk and asks for nothing.`;
      announce(io, flags, file, facts, `${plural(made.rollouts, 'whole rollout')}, ${size}`);
    }
  } finally {
    runs.close();
  }
  return EXIT.ok;
}

function announce(
  io: Io,
  flags: Flags,
  path: string,
  facts: { readonly leftOut: readonly string[] },
  line: string,
): void {
  if (flags.json === true) return printJson(io, facts);
  print(io, shortPath(io, path));
  say(io, line);
  say(io, `Left out: ${facts.leftOut.join('; ')}.`);
}

const IN_FILE = '200';
const IN_SITE = '2000';

function rolloutsOf({ rollouts, site }: Flags): number {
  if (rollouts === 'all') return Number.MAX_SAFE_INTEGER;
  return whole('--rollouts', rollouts ?? (site === undefined ? IN_FILE : IN_SITE), 0);
}

function mustBeBeside(a: RunPlace, b: RunPlace): void {
  if (a.run === b.run && a.out === b.out) {
    throw new UsageError(`--compare ${b.run} is the same run.`, {
      reason: 'bad-value',
      fix: 'Name another run of the same queries.',
    });
  }
  if (a.out !== b.out) {
    throw new UsageError(`The two runs are in different folders: ${a.out} and ${b.out}.`, {
      reason: 'bad-value',
      fix: 'Put both into one folder of runs.',
    });
  }
}
