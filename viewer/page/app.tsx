// The page: the route of the address, the header around it, and the keys that work everywhere.

import { type JSX, h } from 'preact';
import { useEffect, useLayoutEffect, useState, useRef } from 'preact/hooks';
import { ComparePage } from './compare-page.tsx';
import { EvaluationPage } from './evaluation-page.tsx';
import { onKey } from './keys.ts';
import { RolloutPage } from './rollout-page.tsx';
import { parseRoute, type Route, compareHref, runHref } from './route.ts';
import { RunPage } from './run-page.tsx';
import { RunsPage } from './runs-page.tsx';
import { SeveralPage } from './several-page.tsx';
import type { Source } from './source.ts';
import { nextTheme } from './remembered.ts';
import { plural } from './format.ts';
import { Which, Facts } from './parts.tsx';

export function App({ source }: { readonly source: Source }): JSX.Element {
  const [route, setRoute] = useState<Route>(() => parseRoute(location.hash));
  const [help, setHelp] = useState(false);
  useLayoutEffect(() => {
    const changed = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  useLayoutEffect(() => onKey({ '?': () => setHelp((open) => !open), d: nextTheme }), []);
  useEffect(() => {
    document.title = titleOf(route);
  }, [route]);
  return (
    <>
      <a class="skip" href={location.hash} onClick={skipToMain}>
        Skip to the content
      </a>
      <Header route={route} source={source} onHelp={() => setHelp(true)} />
      <main id="main" tabIndex={-1}>
        <Page route={route} source={source} />
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  );
}

function Page({ route, source }: { readonly route: Route; readonly source: Source }): JSX.Element {
  switch (route.page) {
    case 'runs':
      return <RunsPage route={route} source={source} />;
    case 'run':
      return <RunPage key={route.run} route={route} source={source} />;
    case 'rollout':
      return <RolloutPage key={route.run} route={route} source={source} />;
    case 'compare':
      return <ComparePage key={`${route.a}/${route.b}`} route={route} source={source} />;
    case 'several':
      return <SeveralPage key={route.runs.join('/')} route={route} source={source} />;
    case 'evaluation':
      return <EvaluationPage key={route.name} route={route} source={source} />;
  }
}

function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function titleOf(route: Route): string {
  const { page } = route;
  if (page === 'runs') return 'Runs · Everturn';
  if (page === 'compare') return `${route.a} and ${route.b} · Everturn`;
  if (page === 'several') return `${route.runs.length} runs · Everturn`;
  if (page === 'evaluation') return `${route.name} · Everturn`;
  return `${page === 'rollout' ? `${route.place.query} · ` : ''}${route.run} · Everturn`;
}

interface Props {
  readonly route: Route;
  readonly source: Source;
  readonly onHelp: () => void;
}

function Header({ route, source, onHelp }: Props): JSX.Element {
  return (
    <header class="top line one apart">
      <nav class="line one" aria-label="Path">
        <a class="mark line one tight" href="#/" aria-label="Everturn: all runs">
          <Mark />
          <span>Everturn</span>
        </a>
        {(route.page === 'run' || route.page === 'rollout') && <Crumb href={runHref(route.run)} text={route.run} />}
        {route.page === 'compare' && (
          <Crumb href={route.beside ? compareHref(route.a, route.b) : undefined} text={`${route.a} and ${route.b}`} />
        )}
        {route.page === 'evaluation' && <Crumb text={route.name} />}
        {route.page === 'several' && <Crumb text={plural(route.runs.length, 'run')} />}
        {route.page === 'rollout' && <Crumb text={route.place.query} more={<Which of={route.place} />} />}
      </nav>
      <div class="line one tight">
        {source.kind === 'report' && <span class="tag">report</span>}
        <button type="button" class="quiet" onClick={nextTheme} aria-label="Light or dark" title="Light or dark (D)">
          ◐
        </button>
        <button type="button" class="quiet" onClick={onHelp} aria-label="Keys" title="Keys (?)">
          ?
        </button>
      </div>
    </header>
  );
}

interface CrumbProps {
  /** Absent: the page itself. */
  readonly href?: string | undefined;
  readonly text: string;
  readonly more?: JSX.Element;
}

function Crumb({ href, text, more }: CrumbProps): JSX.Element {
  return (
    <>
      <span class="slash dim" aria-hidden="true">
        /
      </span>
      {h(href === undefined ? 'span' : 'a', { class: 'crumb', href, title: text }, text, more)}
    </>
  );
}

/** Three turns of one rollout: wrong, right, right. */
function Mark(): JSX.Element {
  return (
    <svg width="22" height="14" viewBox="0 0 22 14" aria-hidden="true">
      <rect x="0" y="6" width="6" height="8" rx="1.5" class="wrong" />
      <rect x="8" y="3" width="6" height="11" rx="1.5" class="right" opacity="0.65" />
      <rect x="16" y="0" width="6" height="14" rx="1.5" class="right" />
    </svg>
  );
}

const KEYS: readonly (readonly [string, string])[] = [
  ['j  k', 'next and previous row, or rollout'],
  ['Enter', 'open the row'],
  ['n  p', 'next and previous turn'],
  ['s', 'next sample of the query'],
  ['t', 'tokens of the turn'],
  ['←  →', 'in tokens: the token before and after'],
  ['x', 'expand or fold what the model was shown'],
  ['r', 'texts rendered, or as they were written'],
  ['c', 'compare the run, or the query, with another run'],
  ['z', 'the list alone in the window, and back'],
  ['Space', 'in flight: hold still, and go on'],
  ['y', 'copy the address of what is seen'],
  ['/', 'filter, or search'],
  ['Esc', 'back'],
  ['d', 'light or dark'],
  ['?', 'this'],
];

const WORDS: readonly (readonly [string, string])[] = [
  ['carry "the one"', 'words in the id or the question'],
  ['outcome:failed', 'complete, undecided, failed, cancelled, open'],
  ['reason:no-answer', 'of the judge or of the failure'],
  ['right@1:no right@T:yes', 'at turn 1, at the last turn'],
  ['has:repair has:spoil', 'wrong, then right; right, then wrong'],
  ['has:message', 'a person’s message is in its context'],
  ['has:note has:verdict', 'a person’s note or verdict on it'],
  ['tokens>2000 seconds>=10 turns:5', 'also sample, attempt, version, return'],
  ['finish:length found:42', 'how a turn ended, what was found; also server'],
  ['-outcome:complete', 'without'],
];

function Help({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      <Facts facts={KEYS} />
      <h2>Filter</h2>
      <Facts facts={WORDS} />
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}
