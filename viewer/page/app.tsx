// The page: the route of the address, the header around it, and the keys that work everywhere.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { ComparePage } from './compare-page.tsx';
import { Header } from './header.tsx';
import { Help } from './help.tsx';
import { onKey } from './keys.ts';
import { RolloutPage } from './rollout-page.tsx';
import { parseRoute, type Route } from './route.ts';
import { RunPage } from './run-page.tsx';
import { RunsPage } from './runs-page.tsx';
import { SeveralPage } from './several-page.tsx';
import type { Source } from './source.ts';
import { nextTheme } from './theme.ts';

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
  return `${page === 'rollout' ? `${route.place.query} · ` : ''}${route.run} · Everturn`;
}
