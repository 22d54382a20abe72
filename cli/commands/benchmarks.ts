// `everturn benchmarks`: those that a run plays by name. `everturn benchmarks <name>`: what is known of one, with the line that
// plays it. Their pages are read; no data are loaded.

import { oneLine, visible } from '../../domain/text/foreign-text.ts';
import { type Benchmark, benchmarkNames, findBenchmark, shippedBenchmark } from '../../formats/benchmarks/find-rows.ts';
import { type Answer, command, flag, unusable } from '../command.ts';
import { type Column, count, indented, lines, paintFor, table } from '../format.ts';
import { shellQuoted } from '../../library/command-line.ts';
import type { Io } from '../io.ts';

export const benchmarks = command({
  args: { '[name]': 'one of them, or a page of your own (./my.yaml)' },
  flags: { json: flag('one JSON object on stdout; of all of them, a list') },
  help: 'Example:\n  everturn benchmarks\n  everturn benchmarks gpqa-diamond',
  async run(io, { name, json }): Promise<Answer> {
    if (name === undefined) {
      const all = benchmarkNames().map(shippedBenchmark);
      return json ? { json: all.map(asJson) } : { text: listText(io, all) };
    }
    const benchmark = findBenchmark(name, io.cwd);
    if (!benchmark) {
      const fix = '`everturn benchmarks` lists them; a page of your own ends in .yaml.';
      throw unusable(`${oneLine(name)} is no benchmark.`, fix);
    }
    return json ? { json: asJson(benchmark) } : { text: pageText(name, benchmark) };
  },
});

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
