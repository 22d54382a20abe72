// `everturn report`: a run, two compared, or an evaluation, as one HTML file to send or to archive. Reads the run's folder only, needs no
// Temporal.

import { resolve } from 'node:path';
import { writeFileAt } from '../../records/export/export-run.ts';
import { resolvePlace } from '../../records/place.ts';
import { readEvaluation } from '../../records/run/evaluation-record.ts';
import { runPlace } from '../../run/place.ts';
import type { Io } from '../io.ts';
import { mustHoldAll } from '../../records/run/present.ts';
import { makeReport } from '../../viewer/index.ts';
import { command, flag, parsed, text, unusable, parseWholeNumber } from '../command.ts';
import { EXIT } from '../exit.ts';
import { findRun } from '../find/place.ts';
import { shortPath } from '../../library/command-line.ts';
import { costBy, PRICE_FLAGS } from '../find/prices.ts';
import { bundle, mustBeTogether, openPages } from '../find/viewer.ts';
import { JSON_FLAG, OUT } from '../flags.ts';
import { count, plural } from '../format.ts';

const ROLLOUTS = 200;

export const report = command({
  args: { '<run>': "the run's name, or its folder; or an evaluation's name" },
  flags: {
    out: OUT,
    to: text('<file>', 'the HTML file (default: <run>.html)'),
    compare: text('<run>', 'with a second run of the same queries, and the comparison of both'),
    rollouts: parsed(
      '<n>',
      `whole rollouts of a run, or of all runs of an evaluation, failures first, then a seeded sample; or \`all\` (default: ${ROLLOUTS})`,
      (given, name) => (given === 'all' ? Number.MAX_SAFE_INTEGER : parseWholeNumber(name, given, 0)),
    ),
    tokens: flag('with the tokens of these rollouts and their logprobs, to four digits'),
    overwrite: flag('replace an existing file once the new one is complete'),
    ...PRICE_FLAGS,
    json: JSON_FLAG,
  },
  help: 'Example:\n  everturn report my-run --to first.html\n  everturn report base --compare tuned --to both.html\n  everturn report nightly',
  async run(io, given) {
    const { tokens, overwrite, rollouts = ROLLOUTS } = given;
    const evaluation = await readEvaluation(resolvePlace(io.cwd, given.out), given.run);
    const { run, out, other } = evaluation
      ? { run: evaluation.name, out: resolvePlace(io.cwd, given.out), other: undefined }
      : await findRuns(io, given);
    if (evaluation && given.compare !== undefined)
      throw unusable('An evaluation is compared with no run.', 'Leave --compare out.');
    const { runs, api } = openPages(io, out, { costOf: costBy(io, given) });
    const parts = { api, runs, bundle: bundle() };
    const options = {
      ...{ rollouts, tokens, ...(other && { compare: other.run }) },
      ...(evaluation && { isEvaluation: true as const }),
    };
    try {
      for (const cell of evaluation?.cells ?? [])
        if (runs.has(cell.run)) await mustHoldAll(runPlace(out, cell.run).store);
      const file = resolve(io.cwd, given.to ?? `${run}${other ? `-${other.run}` : ''}.html`);
      const { left, html, isDamaged, ...made } = await makeReport(parts, run, options);
      await writeFileAt(file, overwrite, (device) => device.appendFile(html));
      const bytes = Buffer.byteLength(html);
      const size = `${count(bytes / 1000)} kB. It opens from disk and asks for nothing.`;
      return {
        json: { file, bytes, ...made, leftOut: left },
        text: shortPath(io, file),
        about: [`${plural(made.rollouts, 'whole rollout')}, ${size}`, `Left out: ${left.join('; ')}.`],
        ...(isDamaged && { code: EXIT.breach, notes: ['everturn: records are damaged. `everturn check` lists all.'] }),
      };
    } finally {
      runs.close();
    }
  },
});

interface Named {
  readonly run: string;
  readonly compare: string | undefined;
  readonly out: string;
}

/** The run, and the one that it is compared with. */
async function findRuns(io: Io, { run: named, compare, out: under }: Named) {
  const place = await findRun(io, named, under);
  await mustHoldAll(place.store);
  const { out, run } = place;
  const other = compare === undefined ? undefined : await findRun(io, compare, under);
  if (other) {
    await mustHoldAll(other.store);
    mustBeTogether([place, other]);
    if (other.run === run) throw unusable(`--compare ${run} is the same run.`, 'Name another run of the same queries.');
  }
  return { run, out, other };
}
