// The line on top of every page: where one is, and the way back.

import { h, type JSX } from 'preact';
import { plural } from './format.ts';
import { Which } from './parts.tsx';
import { compareHref, type Route, runHref } from './route.ts';
import type { Source } from './source.ts';
import { nextTheme } from './theme.ts';

interface Props {
  readonly route: Route;
  readonly source: Source;
  readonly onHelp: () => void;
}

export function Header({ route, source, onHelp }: Props): JSX.Element {
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
