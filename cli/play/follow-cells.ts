// Follows the runs of an evaluation to their ends. Where one ends, the others on its server share what it had in flight.

import { tuneRun } from '../../client/temporal/runs.ts';
import { type Cell, shareOf } from '../../library/evaluate/cells.ts';
import { type Link, withLink } from '../../local/service/link.ts';
import { mapAhead } from '../../records/map-ahead.ts';
import { knownResult } from '../../run/place.ts';
import { aroundOf } from '../find/place.ts';
import type { Io } from '../io.ts';
import { type CellsView, openCellsView } from '../view/cells-view.ts';
import { follow } from './follow.ts';

/** Runs that are looked at side by side; each look is two requests to the server. */
const AT_ONCE = 32;
const LOOK_MS = 500;

export async function followCells(io: Io, cells: readonly Cell[], json: boolean): Promise<'detached' | 'ended'> {
  const open: Cell[] = [];
  for (const cell of cells) if (!(await knownResult(cell.place))) open.push(cell);
  const leave = io.interrupted();
  if (open.length > 0) {
    const end = await withLink(aroundOf(io), (link) => followOpen(io, link, new Set(open), openCellsView(io, json)));
    if (end === 'detached') return end;
  }
  const left = new Promise<'detached'>((done) => {
    if (leave.aborted) done('detached');
    leave.addEventListener('abort', () => done('detached'), { once: true });
  });
  const retried = Promise.all(cells.map((cell) => cell.retried)).then(() => 'ended' as const);
  return Promise.race([retried, left]);
}

async function followOpen(io: Io, link: Link, open: Set<Cell>, view: CellsView): Promise<'detached' | 'ended'> {
  const everyMs = LOOK_MS * Math.ceil(Math.min(open.size, AT_ONCE) / 4);
  const views = [...open].map((cell) => [cell, view.of(`${cell.benchmark} ${cell.label}`, cell.place.run)] as const);
  const followed = mapAhead(views, AT_ONCE, async ([cell, own]) => {
    const end = await follow(io, link, cell.place.run, own, cell.place.store.folder, everyMs);
    open.delete(cell);
    if (end !== 'detached') await shareAgain(link, cell, open);
    return end;
  });
  let state: 'detached' | 'ended' = 'ended';
  for await (const end of followed) if (end === 'detached') state = end;
  view.end();
  return state;
}

/** A run that cannot be told now keeps its share, or ends itself: it loses time alone. */
async function shareAgain(link: Link, { limit }: Cell, open: ReadonlySet<Cell>): Promise<void> {
  if (!limit) return;
  const others = [...open].filter((cell) => cell.limit?.server === limit.server);
  const share = shareOf(limit.maxConcurrent, others.length);
  const told = others.map(({ place }) => tuneRun(link.session, place.run, { maxConcurrent: share }));
  await Promise.allSettled(told);
}
