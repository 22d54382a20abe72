// The way around a rollout: back to the list, to the other samples of its query, and to its neighbours in the list. The keys
// j, k and s go the same ways.

import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { onKey } from './keys.ts';

interface To {
  readonly href: string;
  readonly title: string;
}

interface Props {
  readonly label: string;
  readonly back: ComponentChildren;
  readonly samples: readonly {
    readonly name: string;
    readonly number: number;
    readonly href: string;
    readonly kind?: string;
    readonly here: boolean;
  }[];
  readonly previous: To | null;
  readonly next: To | null;
  readonly children?: ComponentChildren;
}

export function Walk({ label, back, samples, previous, next, children }: Props): JSX.Element {
  useLayoutEffect(() => {
    const go = (to: Pick<To, 'href'> | null | undefined) => to && void (location.hash = to.href);
    const sample = () => go(samples[(samples.findIndex(({ here }) => here) + 1) % samples.length]);
    return onKey({ j: () => go(next), k: () => go(previous), s: sample });
  });
  return (
    <nav class="walk line" aria-label={label}>
      {back}
      <span class="spring" />
      {children}
      {samples.length > 1 && (
        <span class="samples">
          {samples.map(({ name, number, href, kind = '', here }) => (
            <a key={name} class={`dot ${kind}`} href={href} aria-label={name} aria-current={here ? 'page' : undefined}>
              {number}
            </a>
          ))}
        </span>
      )}
      <Near to={previous} text="← previous" />
      <Near to={next} text="next →" />
    </nav>
  );
}

function Near({ to, text }: { readonly to: To | null; readonly text: string }): JSX.Element {
  return to === null ? (
    <span class="dim" aria-hidden="true">
      {text}
    </span>
  ) : (
    <a href={to.href} title={to.title} aria-label={`${text.replace(/[←→]/, '').trim()}: ${to.title}`}>
      {text}
    </a>
  );
}
