// `everturn benchmarks`: those that a run plays by name. `everturn benchmarks <name>`: what is known of one, with the line that
// plays it. Their pages are read; no data are loaded.

import { oneLine, visible } from '../../domain/text/foreign-text.ts';
import { type Benchmark, benchmarkNames, findBenchmark, shippedBenchmark } from '../../formats/benchmarks/find-rows.ts';
import { type Answer, command, flag, unusable } from '../command.ts';
import { type Column, count, indented, lines, paintFor, plural, table } from '../format.ts';
import { badRowText } from '../../formats/datasets/row-fault.ts';
import { verifyBenchmark, type VerifiedBenchmark } from '../../run/verify-benchmark.ts';
import { EXIT } from '../exit.ts';
import { callerOf } from '../play/say-event.ts';
import { shellQuoted } from '../../library/command-line.ts';
import type { Io } from '../io.ts';

export const benchmarks = command({
  args: { '[name]': 'one of them, or a page of your own (./my.yaml)' },
  flags: {
    verify: flag('load its data, read every row, and pin a page that names no commit to the one that is found'),
    json: flag('one JSON object on stdout; of all of them, a list'),
  },
  help: 'Example:\n  everturn benchmarks\n  everturn benchmarks gpqa-diamond',
  async run(io, { name, verify, json }): Promise<Answer> {
    if (verify && name === undefined) throw unusable('--verify tries one benchmark.', 'Name it.');
    if (name === undefined) {
      const all = benchmarkNames().map(shippedBenchmark);
      return json ? { json: all.map(asJson) } : { text: listText(io, all) };
    }
    const benchmark = findBenchmark(name, io.cwd);
    if (!benchmark) {
      const fix = '`everturn benchmarks` lists them; a page of your own ends in .yaml.';
      throw unusable(`${oneLine(name)} is no benchmark.`, fix);
    }
    if (verify) return verifiedAnswer(benchmark, await verifyBenchmark(benchmark, name, callerOf(io)));
    return json ? { json: asJson(benchmark) } : { text: pageText(name, benchmark) };
  },
});

function verifiedAnswer({ name, page: { size } }: Benchmark, verified: VerifiedBenchmark): Answer {
  const { dataset, badRows, hasSize, pinned } = verified;
  const { accepted, refused, hub, path } = dataset;
  const isRight = refused === 0 && hasSize !== false;
  const text = lines(
    `${oneLine(name)}: ${plural(accepted, 'row')} of ${oneLine(path)}${hub ? ` at ${hub.commit}` : ''}`,
    hub?.files.map((file) => `  ${oneLine(file.name)}  SHA-256 ${file.sha256}`),
    badRows.slice(0, 20).map((bad) => `  ${oneLine(badRowText({ ...bad, file: path }))}`),
    hasSize === false && `The page says ${count(size!)} rows.`,
    pinned !== null && `Pinned: the page names this commit now.`,
    isRight ? 'Every row is read.' : `${plural(refused, 'row')} of it cannot be played.`,
  );
  return { json: { name, ...verified }, text: text.join('\n'), code: isRight ? EXIT.ok : EXIT.dataset };
}

const asJson = ({ name, page, place }: Benchmark): object => ({ name, place, ...page });

function listText(io: Io, all: readonly Benchmark[]): string {
  const columns: Column<Benchmark>[] = [
    ['name', ({ name }) => name],
    ['>rows', ({ page }) => (page.size === undefined ? '?' : count(page.size))],
    ['scorer', ({ page }) => page.scorer],
    ['verified', ({ page }) => (page.verified ? 'yes' : 'no')],
    ['title', ({ page }) => oneLine(page.title)],
  ];
  return table(all, columns, paintFor(io.out, io.env));
}

function pageText(named: string, { name, page, place }: Benchmark): string {
  const { title, source, size, scorer, repeats, sampling = {}, notes = [], cites = [], system, prompt } = page;
  const text = (label: string, of: string | undefined) =>
    of === undefined ? [] : [`${label}:`, indented(visible(of), '  ')];
  const settings = Object.entries({ ...(repeats && { repeats }), ...sampling });
  const played = settings.map(([key, value]) => `${key} ${value}`).join(', ');
  const verified = page.verified
    ? 'yes: its data and its prompt are those that the sources name'
    : 'no: no source names the commit of its data, or its prompt';
  return lines(
    `${oneLine(name)}: ${oneLine(title)}`,
    `Data       ${oneLine(place)}${source.licence === undefined ? '' : `, ${oneLine(source.licence)}`}`,
    size !== undefined && `Rows       ${count(size)}`,
    `Scorer     ${scorer}`,
    notes.length > 0 && `Notes      ${oneLine(notes.join('; '))}`,
    `Verified   ${verified}`,
    played !== '' && `Sampling   ${played}`,
    `Play it    everturn eval ${shellQuoted(named)}`,
    text('System', system),
    text('Prompt', prompt),
    cites.length > 0 && ['Sources:', ...cites.map((cite) => `  ${oneLine(cite)}`)],
  ).join('\n');
}
