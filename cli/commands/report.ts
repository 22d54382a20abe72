// `everturn report`: a run, or two compared, as one HTML file to send or to archive, or as a folder for a static host. Reads
// the run's folder only, needs no Temporal.

import { resolve } from 'node:path';
import { writeFileAt } from '../../records/export/export-run.ts';
import { mustHoldAll } from '../../records/run/present.ts';
import { createApi } from '../../viewer/api.ts';
import { makeReport } from '../../viewer/report.ts';
import { openRuns } from '../../viewer/runs.ts';
import { writeSite } from '../../viewer/site.ts';
import { type Answer, command, flag, parsed, text, unusable, wholeNumber } from '../command.ts';
import { findRun, type RunPlace, shortPath } from '../find/place.ts';
import { bundle, decoderOf } from '../find/viewer.ts';
import { JSON_FLAG, OUT } from '../flags.ts';
import type { Io } from '../io.ts';
import { count, plural } from '../view/format.ts';

const IN_FILE = 200;
const IN_SITE = 2000;

export const report = command({
  args: { '<run>': "the run's name, or its folder" },
  flags: {
    out: OUT,
    to: text('<file>', 'the HTML file (default: <run>.html)'),
    site: text('<folder>', 'a folder for a static host instead of one file', { excludes: 'to' }),
    compare: text('<run>', 'with a second run of the same queries, and the comparison of both'),
    rollouts: parsed(
      '<n>',
      `whole rollouts of a run, failures first, then a seeded sample; or \`all\` (default: ${IN_FILE}; for a site ${IN_SITE})`,
      (given, name) => (given === 'all' ? Number.MAX_SAFE_INTEGER : wholeNumber(name, given, 0)),
    ),
    tokens: flag('with the tokens of these rollouts and their logprobs, to four digits'),
    overwrite: flag('replace an existing file once the new one is complete'),
    json: JSON_FLAG,
  },
  help: 'Example:\n  everturn report my-run --to first.html\n  everturn report base --compare tuned --site public',
  async run(io, given) {
    const { site, tokens, overwrite: replace } = given;
    const place = await findRun(io, given.run, given.out);
    await mustHoldAll(place.store);
    const { out, run } = place;
    const other = given.compare === undefined ? undefined : await findRun(io, given.compare, given.out);
    if (other) {
      await mustHoldAll(other.store);
      mustBeBeside(place, other);
    }
    const rollouts = given.rollouts ?? (site === undefined ? IN_FILE : IN_SITE);
    const runs = openRuns(out);
    const api = createApi({ runs, decoderOf: (open) => decoderOf(open, io.cwd), now: io.now });
    const parts = { api, runs, bundle: bundle() };
    const options = { rollouts, tokens, ...(other && { compare: other.run }) };
    try {
      if (site !== undefined) {
        const folder = resolve(io.cwd, site);
        const { left, ...made } = await writeSite(parts, run, { ...options, folder, replace });
        const files = `${plural(made.files, 'file')}, ${count(made.bytes / 1000)} kB. Copy the folder to any static host; its addresses are relative.`;
        const line = `${plural(made.rollouts, 'whole rollout')} in ${files}`;
        return written(io, folder, { folder, ...made }, left, line);
      }
      const file = resolve(io.cwd, given.to ?? `${run}${other ? `-${other.run}` : ''}.html`);
      const { left, html, ...made } = await makeReport(parts, run, options);
      await writeFileAt(file, replace, (device) => device.appendFile(html));
      const facts = { file, bytes: Buffer.byteLength(html), ...made };
      const size = `${count(facts.bytes / 1000)} kB. It opens from disk and asks for nothing.`;
      return written(io, file, facts, left, `${plural(made.rollouts, 'whole rollout')}, ${size}`);
    } finally {
      runs.close();
    }
  },
});

function written(io: Io, path: string, facts: object, left: readonly string[], line: string): Answer {
  const json = { ...facts, leftOut: left };
  return { json, text: shortPath(io, path), about: [line, `Left out: ${left.join('; ')}.`] };
}

function mustBeBeside(a: RunPlace, b: RunPlace): void {
  if (a.run === b.run && a.out === b.out)
    throw unusable(`--compare ${b.run} is the same run.`, 'Name another run of the same queries.');
  if (a.out !== b.out)
    throw unusable(
      `The two runs are in different folders: ${a.out} and ${b.out}.`,
      'Put both into one folder of runs.',
    );
}
