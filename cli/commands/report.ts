// `everturn report`: a run, or two compared, as one HTML file to send or to archive. Reads the run's folder only, needs no
// Temporal.

import { resolve } from 'node:path';
import { writeFileAt } from '../../records/export/export-run.ts';
import { mustHoldAll } from '../../records/run/present.ts';
import { makeReport } from '../../viewer/report.ts';
import { command, flag, parsed, text, unusable, parseWholeNumber } from '../command.ts';
import { findRun } from '../find/place.ts';
import { shortPath } from '../../library/command-line.ts';
import { costBy, PRICE_FLAGS } from '../find/prices.ts';
import { bundle, mustBeTogether, openPages } from '../find/viewer.ts';
import { JSON_FLAG, OUT } from '../flags.ts';
import { count, plural } from '../format.ts';

const ROLLOUTS = 200;

export const report = command({
  args: { '<run>': "the run's name, or its folder" },
  flags: {
    out: OUT,
    to: text('<file>', 'the HTML file (default: <run>.html)'),
    compare: text('<run>', 'with a second run of the same queries, and the comparison of both'),
    rollouts: parsed(
      '<n>',
      `whole rollouts of a run, failures first, then a seeded sample; or \`all\` (default: ${ROLLOUTS})`,
      (given, name) => (given === 'all' ? Number.MAX_SAFE_INTEGER : parseWholeNumber(name, given, 0)),
    ),
    tokens: flag('with the tokens of these rollouts and their logprobs, to four digits'),
    overwrite: flag('replace an existing file once the new one is complete'),
    ...PRICE_FLAGS,
    json: JSON_FLAG,
  },
  help: 'Example:\n  everturn report my-run --to first.html\n  everturn report base --compare tuned --to both.html',
  async run(io, given) {
    const { tokens, overwrite, rollouts = ROLLOUTS } = given;
    const place = await findRun(io, given.run, given.out);
    await mustHoldAll(place.store);
    const { out, run } = place;
    const other = given.compare === undefined ? undefined : await findRun(io, given.compare, given.out);
    if (other) {
      await mustHoldAll(other.store);
      mustBeTogether([place, other]);
      if (other.run === run)
        throw unusable(`--compare ${run} is the same run.`, 'Name another run of the same queries.');
    }
    const { runs, api } = openPages(io, out, { costOf: costBy(io, given) });
    const parts = { api, runs, bundle: bundle() };
    const options = { rollouts, tokens, ...(other && { compare: other.run }) };
    try {
      const file = resolve(io.cwd, given.to ?? `${run}${other ? `-${other.run}` : ''}.html`);
      const { left, html, ...made } = await makeReport(parts, run, options);
      await writeFileAt(file, overwrite, (device) => device.appendFile(html));
      const bytes = Buffer.byteLength(html);
      const size = `${count(bytes / 1000)} kB. It opens from disk and asks for nothing.`;
      return {
        json: { file, bytes, ...made, leftOut: left },
        text: shortPath(io, file),
        about: [`${plural(made.rollouts, 'whole rollout')}, ${size}`, `Left out: ${left.join('; ')}.`],
      };
    } finally {
      runs.close();
    }
  },
});
