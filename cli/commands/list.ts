// `everturn list`: the runs in a folder, and others that the server plays now. Starts nothing.

import { type ListedRun, runsOf } from '../../library/list-runs.ts';
import { resolvePlace } from '../../records/place.ts';
import { command, flag } from '../command.ts';
import { aroundOf } from '../find/place.ts';
import { shortPath } from '../../library/command-line.ts';
import { OUT } from '../flags.ts';
import { type Io, printJson } from '../io.ts';
import { ago, type Column, count, paintFor, percent, table, type Tint } from '../format.ts';

export const list = command({
  flags: { out: OUT, json: flag('one run a line as JSON on stdout') },
  help: 'Example:\n  everturn list',
  async run(io, given) {
    const runs = await runsOf(given.out, aroundOf(io));
    if (given.json) for (const run of runs) printJson(io, run);
    if (given.json || runs.length > 0) return given.json ? {} : { text: listText(io, runs) };
    return {
      notes: [`No runs in ${shortPath(io, resolvePlace(io.cwd, given.out))} yet. Start with \`everturn demo\`.`],
    };
  },
});

const TINTS: Readonly<Record<string, Tint>> = {
  running: 'cyan',
  ended: 'green',
  cancelled: 'yellow',
  interrupted: 'yellow',
  broken: 'red',
};

function listText(io: Io, runs: readonly ListedRun[]): string {
  const columns: Column<ListedRun>[] = [
    ['run', ({ run }) => run],
    ['state', ({ state }) => state, ({ state }) => TINTS[state]],
    ['>done', ({ done, total }) => [done, total].map((n) => (n === null ? '?' : count(n))).join('/')],
    [
      '>right so far, of ended',
      ({ right, counted }) => (right === null || !counted ? '–' : percent(right, counted, 0)),
    ],
    ['begun', ({ createdAt }) => (createdAt ? ago(io.now() - createdAt) : '–')],
    ['folder', ({ folder }) => (folder === null ? '–' : shortPath(io, folder))],
  ];
  return table(runs, columns, paintFor(io.out, io.env));
}
