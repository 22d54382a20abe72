// One rollout as a conversation, turn by turn: the question and what is expected, what the judge said, the answers with
// their verdicts and facts; or the tokens of one turn.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RolloutMessage } from '../model/messages.ts';
import { plain } from '../model/visible-bytes.ts';
import { rowKey } from '../model/row.ts';
import { listInTree } from '../../domain/rollout/list-calls.ts';
import { Asked } from './asked.tsx';
import { decimals, spacedWords, plural } from './format.ts';
import { onKey } from './keys.ts';
import { Loading, verdictName, Notice, Problem, SIGN, State } from './parts.tsx';
import { People, Steer } from './steer.tsx';
import { WithReading } from './rich-text.tsx';
import { comparedHref, hrefOf, listHref, parseRoute, rolloutHref, type RolloutRoute } from './route.ts';
import { type Source, useMessage } from './source.ts';
import { TokenView } from './token-view.tsx';
import { ProgramAnswer, Turn } from './turn.tsx';
import { Walk } from './walk.tsx';

interface Props {
  readonly route: RolloutRoute;
  readonly source: Source;
}

const LIVE_MS = 2_000;

export function RolloutPage({ route, source }: Props): JSX.Element {
  const { run, place } = route;
  const list = { filter: route.filter, sort: route.sort };
  // After an act it is asked for again.
  const [acted, setActed] = useState(0);
  const key = JSON.stringify([run, place, list, acted]);
  const { message, error, of } = useMessage(
    key,
    () => source.rollout(run, place, list),
    ({ end }) => (end === null && source.kind === 'server' ? LIVE_MS : 0),
  );
  const [expanded, setExpanded] = useState(false);
  const [copied, setCopied] = useState(false);
  const turns = of === key && message ? listInTree(message.turns).map(({ turn }) => turn.record.turn) : [];
  useRolloutKeys(route, turns, comparedHref(source.compared, run, place), {
    expand: () => setExpanded((all) => !all),
    copied: () => setCopied(true),
  });
  useEffect(() => {
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  useScrollToTurn(route, of === key);
  if (!message || (of !== key && error !== undefined))
    return <Loading error={error} back={[listHref(run, route.filter, route.sort), `Rollouts of ${run}`]} />;
  const { steer } = source;
  const steerOn = (turn: number | null) =>
    steer && <Steer run={run} message={message} turn={turn} send={steer} onActed={() => setActed((n) => n + 1)} />;
  return (
    <WithReading>
      {(button) => (
        <article class={`rollout${of === key ? '' : ' stale'}`}>
          <RolloutWalk route={route} message={message}>
            {!route.tokens && button}
          </RolloutWalk>
          <Question message={message} route={route} />
          <Problem text={error} />
          <Problem text={message.row.flaw} />
          {copied && <Notice>The address is copied.</Notice>}
          {route.tokens ? (
            <TokenView route={route} source={source} message={message} />
          ) : (
            <>
              {listInTree(message.turns).map(({ turn, depth }) => (
                <Turn
                  key={`${rowKey(message.row)} ${turn.record.turn}`}
                  route={route}
                  message={message}
                  turn={turn}
                  expanded={expanded}
                  depth={depth}
                >
                  {steerOn(turn.record.turn)}
                </Turn>
              ))}
              <ProgramAnswer route={route} message={message} />
              <End message={message} />
              <People acts={message.acts} turn={null} />
              {steerOn(null)}
            </>
          )}
        </article>
      )}
    </WithReading>
  );
}

/** The keys of the page. `turns`: the numbers of those that are shown, in their order. */
function useRolloutKeys(
  route: RolloutRoute,
  turns: readonly number[],
  compared: string,
  on: { readonly expand: () => void; readonly copied: () => void },
): void {
  useLayoutEffect(() => {
    const open = (href: string) => void (location.hash = href);
    const step = (by: number) => {
      const shown = routeNow(route);
      const at = shown.turn === null ? -1 : turns.indexOf(shown.turn);
      const next = turns[Math.max(0, Math.min(turns.length - 1, at + by))];
      if (next !== undefined) open(hrefOf({ ...shown, turn: next, token: null }));
    };
    const show = (tokens: boolean, turn = routeNow(route).turn) =>
      open(hrefOf({ ...routeNow(route), tokens, turn, token: null }));
    return onKey({
      n: () => step(1),
      p: () => step(-1),
      c: () => open(compared),
      t: () => show(!routeNow(route).tokens, routeNow(route).turn ?? 1),
      x: on.expand,
      y: () => void navigator.clipboard?.writeText(location.href).then(on.copied, () => {}),
      Escape: () => (routeNow(route).tokens ? show(false) : open(listHref(route.run, route.filter, route.sort))),
    });
  });
}

/** Shows the turn of the address once, when the rollout is there. */
function useScrollToTurn({ run, place, filter, sort, turn, tokens }: RolloutRoute, isThere: boolean): void {
  const scrolled = useRef('');
  const where = JSON.stringify([run, place, filter, sort, turn, tokens]);
  useEffect(() => {
    if (!isThere || scrolled.current === where) return;
    scrolled.current = where;
    if (turn === null) scrollTo(0, 0);
    else if (!tokens) document.getElementById(`turn-${turn}`)?.scrollIntoView({ block: 'start' });
  }, [isThere, where]);
}

interface RolloutWalkProps {
  readonly route: RolloutRoute;
  readonly message: RolloutMessage;
  readonly children: ComponentChildren;
}

function RolloutWalk({ route, message, children }: RolloutWalkProps): JSX.Element {
  const { run, place, filter, sort } = route;
  const { samples, previous, next } = message;
  return (
    <Walk
      label="Other rollouts"
      back={
        <>
          <a href={listHref(run, filter, sort)}>Rollouts</a>
          {filter !== '' && <span class="dim"> with {filter}</span>}
        </>
      }
      samples={samples.map((row) => ({
        name: `sample ${row.sample}${row.attempt > 1 ? `, attempt ${row.attempt}` : ''}`,
        number: row.sample,
        href: rolloutHref(run, row, route),
        kind: verdictName(row.success.at(-1) ?? null),
        here: row.sample === place.sample && row.attempt === place.attempt,
      }))}
      previous={previous && { href: rolloutHref(run, previous, route), title: previous.query }}
      next={next && { href: rolloutHref(run, next, route), title: next.query }}
    >
      {children}
    </Walk>
  );
}

function Question({ message, route }: { readonly message: RolloutMessage; readonly route: RolloutRoute }): JSX.Element {
  const { query, row, turns, numTurns } = message;
  const last = turns.at(-1);
  const answer = last?.record.asked && last.verdict?.verdict;
  return (
    <header class="question">
      <h1>{query.queryId}</h1>
      <Asked query={query} />
      <nav class="steps line tight" aria-label="Turns">
        {(numTurns > 1 || turns.length > 1 ? listInTree(turns) : []).map(({ turn: { record, verdict } }) => {
          // The program's answer is judged, and no call of it.
          const kind = record.asked ? 'called' : (verdict?.verdict ?? 'none');
          return (
            <a
              key={record.turn}
              class={`step ${kind}`}
              href={hrefOf({ ...route, turn: record.turn, token: null })}
              aria-current={record.turn === route.turn ? 'step' : undefined}
              aria-label={
                record.asked ? `call ${record.turn}` : `turn ${record.turn}: ${verdict?.verdict ?? 'not judged'}`
              }
            >
              <span aria-hidden="true">
                {SIGN[kind]} {record.turn}
              </span>
            </a>
          );
        })}
        {answer && answer !== 'called' && (
          <span class={`step ${answer}`}>
            {SIGN[answer]} {answer}
          </span>
        )}
        {Array.from({ length: numTurns > 1 ? Math.max(0, Math.min(24, numTurns) - turns.length) : 0 }, (_, i) => (
          <span key={`none ${i}`} class="step none" aria-hidden="true">
            {turns.length + i + 1}
          </span>
        ))}
        <span class="dim small">
          <State state={row.state} reason={row.reason} />
          {row.reward !== null && ` · return ${decimals(row.reward)}`}
        </span>
      </nav>
    </header>
  );
}

function End({ message }: { readonly message: RolloutMessage }): JSX.Element {
  const { end, turns, row, folder, history } = message;
  const isAgents = turns[0]?.record.asked !== undefined;
  return (
    <footer class="end">
      {end === null ? (
        <p>
          Not ended: {plural(turns.length, isAgents ? 'call' : 'turn')} so far
          {!isAgents &&
            row.doing &&
            `, ${row.doing.what === 'judge' ? 'being judged' : `turn ${row.doing.turn} is being answered`}`}
          .
        </p>
      ) : (
        <p>
          <State state={end.outcome} reason={null} />
          {end.stopReason !== end.outcome && `: ${spacedWords(end.stopReason)}`}
          {end.failure && `: ${end.failure.reason}`}
        </p>
      )}
      {end?.failure && <pre class="fault text small">{plain(end.failure.message)}</pre>}
      <p class="dim small path">{folder}</p>
      {history !== undefined && (
        <p class="small">
          <a href={history} target="_blank" rel="noreferrer noopener">
            history in Temporal
          </a>
        </p>
      )}
    </footer>
  );
}

/** The address counts, not what is on screen: keys may come faster than pages. */
function routeNow(fallback: RolloutRoute): RolloutRoute {
  const route = parseRoute(location.hash);
  return route.page === 'rollout' ? route : fallback;
}
