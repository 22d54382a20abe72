// The rollouts of a run: one filter, sortable columns, a list of which only the visible rows exist. Filter and order are
// in the address; j and k move, Enter opens.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { RunMessage } from '../model/messages.ts';
import { rowMs, type Row, rowTokens } from '../model/row.ts';
import { Value, Values } from './asked.tsx';
import { count, duration, decimals, orNone } from './format.ts';
import { onKey } from './keys.ts';
import { type Column, Problem, State, Strip, Which } from './parts.tsx';
import { listHref, rolloutHref, type RunRoute } from './route.ts';
import { replaceHash } from './replace-hash.ts';
import { SearchField } from './search-field.tsx';
import type { Source } from './source.ts';
import { usePages, VirtualList } from './virtual-list.tsx';

interface Props {
  readonly route: RunRoute;
  readonly source: Source;
  readonly run: RunMessage;
}

const SEVERAL: readonly (readonly [string, string])[] = [
  ['right at the end', 'right@T:yes'],
  ['wrong to the end', 'right@T:no'],
  ['repaired', 'has:repair'],
  ['spoiled', 'has:spoil'],
];
const ONE: typeof SEVERAL = [
  ['right', 'right@1:yes'],
  ['wrong', 'right@1:no'],
];
const ENDS: typeof SEVERAL = [
  ['failed', 'outcome:failed'],
  ['undecided', 'outcome:undecided'],
  ['cut', 'finish:length'],
];

const chipsOf = (turns: number): typeof SEVERAL => [['all', ''], ...(turns > 1 ? SEVERAL : ONE), ...ENDS];

function columnsOf({ run, filter, sort }: RunRoute, turns: number): readonly Column<Row>[] {
  return [
    {
      ...{ name: 'rollout', sort: 'query', kind: 'name' },
      cell: (row) => (
        <>
          <a class="whole" href={rolloutHref(run, row, { filter, sort })}>
            {row.query}
          </a>
          <Which of={row} />
          {row.marks?.map((mark) => (
            <span key={mark} class="tag" title={`a person’s ${mark} on it`}>
              {mark}
            </span>
          ))}{' '}
          <span class="dim">{row.title}</span>
        </>
      ),
    },
    {
      ...{ name: turns > 1 ? 'turns' : 'verdict', sort: 'right' },
      cell: (row) => <Strip values={row.success} total={turns} />,
    },
    {
      ...{ name: 'outcome', sort: 'outcome' },
      cell: ({ state, flaw, reason, stop }) => (
        <State state={state} reason={flaw ?? reason ?? (stop === 'max-turns' ? null : stop)} />
      ),
    },
    {
      ...{ name: 'found', kind: 'found' },
      cell: ({ turns: { extracted } }) => extracted !== null && <Value text={extracted} />,
    },
    { name: 'expected', kind: 'found', cell: ({ expected }) => expected && <Values values={expected} /> },
    { name: 'tokens', sort: 'tokens', kind: 'num', cell: (row) => orNone(rowTokens(row), count) },
    { name: 'time', sort: 'seconds', kind: 'num', cell: (row) => duration(rowMs(row)) },
    { name: 'return', sort: 'reward', kind: 'num', cell: ({ reward }) => orNone(reward, decimals) },
  ];
}

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
        {chipsOf(run.head.numTurns).map(([name, wanted]) => (
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
        columns={columnsOf(route, run.head.numTurns)}
        sort={sort}
        onSort={(by) => go(filter, by)}
        none={filter === '' ? 'No rollout has begun.' : 'No rollout is like that.'}
      />
    </div>
  );
}
