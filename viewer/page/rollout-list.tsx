// The rollouts of a run: one filter, sortable columns, a list of which only the visible rows exist. Filter and order are
// in the address; j and k move, Enter opens.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RunMessage } from '../model/messages.ts';
import { msOf, type Row, tokensOf } from '../model/row.ts';
import { meaningOf } from '../model/words.ts';
import { count, duration, decimals, orNone } from './format.ts';
import { onKey } from './keys.ts';
import { Problem, State, Strip, Which } from './parts.tsx';
import { replaceHash } from './replace-hash.ts';
import { listHref, rolloutHref, type RunRoute } from './route.ts';
import { SearchField } from './search-field.tsx';
import type { Source } from './source.ts';
import { usePages } from './use-pages.ts';
import { VirtualList } from './virtual-list.tsx';

interface Props {
  readonly route: RunRoute;
  readonly source: Source;
  readonly run: RunMessage;
}

const COMMON: readonly (readonly [string, string])[] = [
  ['all', ''],
  ['wrong to the end', 'right@T:no'],
  ['repaired', 'has:repair'],
  ['spoiled', 'has:spoil'],
  ['failed', 'outcome:failed'],
  ['undecided', 'outcome:undecided'],
  ['cut', 'finish:length'],
];

interface Column {
  readonly name: string;
  /** The fact that the list is sorted by; absent if it is not. */
  readonly sort?: string;
  readonly kind?: string;
  readonly cell: (row: Row, run: RunMessage) => ComponentChildren;
}

/** Behind the name of the rollout. */
const COLUMNS: readonly Column[] = [
  {
    ...{ name: 'turns', sort: 'right' },
    cell: (row, { head }) => <Strip values={row.success} total={head.numTurns} />,
  },
  {
    ...{ name: 'outcome', sort: 'outcome' },
    cell: ({ state, flaw, reason, stop }) => (
      <State state={state} reason={flaw ?? reason ?? (stop === 'max-turns' ? null : stop)} />
    ),
  },
  { name: 'found', kind: 'found', cell: ({ turns }) => turns.extracted },
  { name: 'tokens', sort: 'tokens', kind: 'num', cell: (row) => orNone(tokensOf(row), count) },
  { name: 'time', sort: 'seconds', kind: 'num', cell: (row) => duration(msOf(row)) },
  { name: 'return', sort: 'reward', kind: 'num', cell: ({ reward }) => orNone(reward, decimals) },
];

const TYPING_MS = 150;

export function RolloutList({ route, source, run }: Props): JSX.Element {
  const { filter, sort } = route;
  const key = JSON.stringify([route.run, filter, sort]);
  const ask = (from: number, n: number) => source.rows(route.run, { filter, sort }, from, n);
  const pages = usePages(key, ask, run.progress.revision);
  const [chosen, setChosen] = useState(-1);
  useEffect(() => setChosen(-1), [filter, sort]);
  const go = (next: string, by = sort) => replaceHash(listHref(route.run, next, by));
  useLayoutEffect(() => {
    const move = (by: number) => setChosen((at) => Math.max(0, Math.min(pages.count - 1, at + by)));
    return onKey({ j: () => move(1), k: () => move(-1) });
  }, [pages.count]);
  return (
    <div class="list">
      <SearchField
        value={filter}
        label="Filter the rollouts"
        placeholder="Filter: words, outcome:failed, tokens>2000, right@1:no …"
        most={2000}
        afterMs={TYPING_MS}
        onText={(text) => go(text.trim())}
      >
        <span class="dim" role="status">
          {pages.count >= 0 && `${count(pages.count)}${filter === '' ? '' : ` of ${count(run.summary.begun)}`}`}
        </span>
      </SearchField>
      <p class="chips line tight">
        {COMMON.map(([name, wanted]) => (
          <button key={name} type="button" aria-pressed={filter === wanted} onClick={() => go(wanted)}>
            {name}
          </button>
        ))}
      </p>
      {pages.problems.map((problem) => (
        <Problem key={problem} text={problem} />
      ))}
      <VirtualList
        label="Rollouts"
        pages={pages}
        chosen={chosen}
        head={[{ name: 'rollout', sort: 'query' }, ...COLUMNS].map((column) => (
          <Head key={column.name} column={column} sort={sort} onSort={(by) => go(filter, by)} />
        ))}
        cells={(row, i) => <Cells row={row} route={route} run={run} chosen={i === chosen} />}
        none={filter === '' ? 'No rollout has begun.' : 'No rollout is like that.'}
      />
    </div>
  );
}

interface HeadProps {
  readonly column: Omit<Column, 'cell'>;
  readonly sort: string;
  readonly onSort: (by: string) => void;
}

function Head({ column: { name, sort: id, kind }, sort, onSort }: HeadProps): JSX.Element {
  if (id === undefined)
    return (
      <span role="columnheader" class={kind} title={meaningOf(name)}>
        {name}
      </span>
    );
  const sorted = sort === id ? 'ascending' : sort === `-${id}` ? 'descending' : undefined;
  const next = sorted === 'descending' ? id : sorted === 'ascending' ? '' : `-${id}`;
  return (
    <span role="columnheader" class={kind} aria-sort={sorted}>
      <button type="button" onClick={() => onSort(next)} title={meaningOf(name) ?? `Sort by ${name}`}>
        {name} <i aria-hidden="true">{sorted === 'ascending' ? '↑' : sorted === 'descending' ? '↓' : '↕'}</i>
      </button>
    </span>
  );
}

interface CellsProps {
  readonly row: Row;
  readonly route: RunRoute;
  readonly run: RunMessage;
  readonly chosen: boolean;
}

function Cells({ row, route, run, chosen }: CellsProps): JSX.Element {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (chosen) link.current?.focus({ preventScroll: true });
  }, [chosen]);
  return (
    <>
      <span role="cell" class="name">
        <a ref={link} class="whole" href={rolloutHref(route.run, row, route)}>
          {row.query}
        </a>
        <Which of={row} />
        {row.marks?.map((mark) => (
          <span key={mark} class="tag" title={`a person’s ${mark} on it`}>
            {mark}
          </span>
        ))}{' '}
        <span class="dim">{row.title}</span>
      </span>
      {COLUMNS.map(({ name, kind, cell }) => (
        <span key={name} role="cell" class={kind}>
          {cell(row, run)}
        </span>
      ))}
    </>
  );
}
