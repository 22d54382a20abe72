// The rollouts of a run: one filter, sortable columns, a list of which only the visible rows exist. Filter and order are
// in the address; j and k move, Enter opens.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunMessage } from '../model/messages.ts';
import { msOf, type Row, rowKey, tokensOf } from '../model/row.ts';
import { count, duration, decimals } from './format.ts';
import { onKey } from './keys.ts';
import { Notice, State, Strip } from './parts.tsx';
import { listHref, rolloutHref, type Route } from './route.ts';
import type { Source } from './source.ts';
import { usePages } from './use-pages.ts';
import { ROW_PX, VirtualList } from './virtual-list.tsx';

interface Props {
  readonly route: Extract<Route, { page: 'run' }>;
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

const COLUMNS: readonly (readonly [string, string, string])[] = [
  ['query', 'rollout', 'c-query'],
  ['right', 'turns', 'c-strip'],
  ['outcome', 'outcome', 'c-state'],
  ['', 'found', 'c-found'],
  ['tokens', 'tokens', 'c-num'],
  ['seconds', 'time', 'c-num'],
  ['reward', 'return', 'c-num'],
];

export function RolloutList({ route, source, run }: Props): JSX.Element {
  const { filter, sort } = route;
  const [text, setText] = useState(filter);
  const input = useRef<HTMLInputElement>(null);
  const key = JSON.stringify([route.run, filter, sort]);
  const ask = (from: number, n: number) => source.rows(route.run, { filter, sort }, from, n);
  const pages = usePages(key, ask, run.progress.revision);
  const [chosen, setChosen] = useState(-1);
  useEffect(() => setText(filter), [filter]);
  useEffect(() => setChosen(-1), [filter, sort]);
  const go = (next: string, by = sort) => {
    const href = listHref(route.run, next, by);
    if (href !== location.hash) history.replaceState(null, '', href);
    dispatchEvent(new HashChangeEvent('hashchange'));
  };
  useEffect(() => {
    if (text === filter) return undefined;
    const timer = setTimeout(() => go(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    const move = (by: number) => setChosen((at) => Math.max(0, Math.min(pages.count - 1, at + by)));
    return onKey({ j: () => move(1), k: () => move(-1), '/': () => input.current?.select() });
  }, [pages.count]);
  return (
    <div class="list">
      <div class="filter">
        <input
          ref={input}
          type="search"
          value={text}
          placeholder="Filter: words, outcome:failed, tokens>2000, right@1:no …"
          aria-label="Filter the rollouts"
          spellcheck={false}
          maxLength={2000}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <span class="dim" role="status">
          {pages.count < 0 ? '' : `${count(pages.count)}${filter === '' ? '' : ` of ${count(run.summary.begun)}`}`}
        </span>
      </div>
      <p class="chips">
        {COMMON.map(([name, wanted]) => (
          <button key={name} type="button" aria-pressed={filter === wanted} onClick={() => go(wanted)}>
            {name}
          </button>
        ))}
      </p>
      {pages.error !== undefined && <Notice kind="problem">{pages.error}</Notice>}
      {pages.problems.map((problem) => (
        <Notice key={problem} kind="problem">
          {problem}
        </Notice>
      ))}
      <div class="table" role="table" aria-label="Rollouts" aria-rowcount={pages.count}>
        <VirtualList
          count={Math.max(0, pages.count)}
          chosen={chosen}
          head={
            <div class="tr th" role="row">
              {COLUMNS.map(([key, name, style]) => (
                <Column key={name} id={key} name={name} style={style} sort={sort} onSort={(by) => go(filter, by)} />
              ))}
            </div>
          }
          onRange={pages.want}
          row={(i) => (
            <RowLine
              key={i}
              i={i}
              row={pages.row(i)}
              route={route}
              numTurns={run.head.numTurns}
              chosen={i === chosen}
            />
          )}
        />
      </div>
      {pages.count === 0 && <p class="dim empty">No rollout is like that.</p>}
    </div>
  );
}

const TYPING_MS = 150;

interface ColumnProps {
  readonly id: string;
  readonly name: string;
  readonly style: string;
  readonly sort: string;
  readonly onSort: (by: string) => void;
}

function Column({ id, name, style, sort, onSort }: ColumnProps): JSX.Element {
  const sorted = sort === id ? 'ascending' : sort === `-${id}` ? 'descending' : undefined;
  if (id === '')
    return (
      <span role="columnheader" class={style}>
        {name}
      </span>
    );
  const next = sorted === 'descending' ? id : sorted === 'ascending' ? '' : `-${id}`;
  return (
    <span role="columnheader" class={style} aria-sort={sorted}>
      <button type="button" onClick={() => onSort(next)}>
        {name}
        <i aria-hidden="true">{sorted === 'ascending' ? ' ↑' : sorted === 'descending' ? ' ↓' : ''}</i>
      </button>
    </span>
  );
}

interface LineProps {
  readonly i: number;
  readonly row: Row | undefined;
  readonly route: Props['route'];
  readonly numTurns: number;
  readonly chosen: boolean;
}

function RowLine({ i, row, route, numTurns, chosen }: LineProps): JSX.Element {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (chosen) link.current?.focus({ preventScroll: true });
  }, [chosen, row === undefined]);
  const place = { top: `${i * ROW_PX}px`, height: `${ROW_PX}px` };
  if (!row) return <div class="tr row" role="row" aria-rowindex={i + 1} style={place} />;
  const tokens = tokensOf(row);
  return (
    <div
      class={`tr row${chosen ? ' chosen' : ''}`}
      role="row"
      aria-rowindex={i + 1}
      style={place}
      data-key={rowKey(row)}
    >
      <span role="cell" class="c-query">
        <a ref={link} class="whole" href={rolloutHref(route.run, row, route)}>
          {row.query}
        </a>
        {row.sample > 0 && <span class="dim"> sample {row.sample}</span>}
        {row.attempt > 1 && <span class="dim"> attempt {row.attempt}</span>}
        {row.marks?.map((mark) => (
          <span key={mark} class="tag" title={`a person’s ${mark} on it`}>
            {mark}
          </span>
        ))}
        <span class="dim title">{row.title}</span>
      </span>
      <span role="cell" class="c-strip">
        <Strip row={row} total={numTurns} />
      </span>
      <span role="cell" class="c-state">
        <State state={row.state} reason={row.flaw ?? row.reason ?? (row.stop === 'max-turns' ? null : row.stop)} />
      </span>
      <span role="cell" class="c-found">
        {row.turns.extracted}
      </span>
      <span role="cell" class="c-num">
        {tokens === null ? '–' : count(tokens)}
      </span>
      <span role="cell" class="c-num">
        {duration(msOf(row))}
      </span>
      <span role="cell" class="c-num">
        {row.reward === null ? '–' : decimals(row.reward)}
      </span>
    </div>
  );
}
