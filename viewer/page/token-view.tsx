// The tokens of one turn on its real text, coloured by probability or weight version, each with its exact numbers. The
// context is there too, masked: it carries no loss.

import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { RolloutMessage, TokensMessage } from '../model/messages.ts';
import { type Cell, cellsOf, type TokenStats, tokenStats } from '../model/token-cells.ts';
import { spelled } from '../model/visible-bytes.ts';
import { chance, decimals, plural } from './format.ts';
import { onKey } from './keys.ts';
import { Legend, Loading, Notice } from './parts.tsx';
import { replaceHash } from './replace-hash.ts';
import { hrefOf, parseRoute, type RolloutRoute } from './route.ts';
import type { Source } from './source.ts';
import { TokenDetail } from './token-detail.tsx';
import { type Colour, TokenText } from './token-text.tsx';
import { useMessage } from './use-message.ts';

interface Props {
  readonly route: RolloutRoute;
  readonly source: Source;
  readonly message: RolloutMessage;
}

export function TokenView({ route, source, message }: Props): JSX.Element {
  const turn = route.turn ?? 1;
  const { run, place } = route;
  const key = JSON.stringify(['tokens', run, place, turn]);
  const asked = useMessage(key, () => source.tokens(run, place, turn));
  const tokens = asked.of === key ? asked.message : undefined;
  const hash = message.turns[turn - 1]?.hash;
  return (
    <section class="token-view" aria-labelledby="tokens-title">
      <div class="turn-head line">
        <h2 id="tokens-title">Turn {turn}, token by token</h2>
        <span class="spring" />
        <a class="quiet" href={hrefOf({ ...route, tokens: false, token: null })}>
          as text
        </a>
      </div>
      {tokens ? <Tokens key={`${key} ${hash}`} route={route} tokens={tokens} /> : <Loading error={asked.error} />}
    </section>
  );
}

const COLOURS: readonly (readonly [Colour, string])[] = [
  ['probability', 'probability'],
  ['version', 'weight version'],
];

function Tokens({ route, tokens }: { readonly route: Props['route']; readonly tokens: TokensMessage }): JSX.Element {
  const [colour, setColour] = useState<Colour>('probability');
  const [pointed, setPointed] = useState<number | null>(null);
  const stats = useMemo(() => tokenStats(tokens.logprobs), [tokens]);
  const cells = useMemo(() => cellsOf(tokens), [tokens]);
  const chosen = route.token !== null && route.token < cells.length ? route.token : null;
  const go = (cell: number) => replaceHash(hrefOf({ ...route, token: Math.max(0, Math.min(cells.length - 1, cell)) }));
  useLayoutEffect(() => {
    // Keys may come faster than pages: the address counts.
    const at = (none: number) => {
      const now = parseRoute(location.hash);
      return now.page === 'rollout' ? (now.token ?? none) : none;
    };
    return onKey({ ArrowRight: () => go(at(-1) + 1), ArrowLeft: () => go(at(1) - 1) });
  });
  return (
    <>
      <Summary tokens={tokens} stats={stats} cells={cells} onGo={go} />
      {tokens.noText !== null && <Notice>Only ids can be shown: {tokens.noText}.</Notice>}
      <div class="colours line apart">
        <span class="line tight" role="group" aria-label="Colour by">
          {COLOURS.map(([name, text]) => (
            <button key={name} type="button" aria-pressed={colour === name} onClick={() => setColour(name)}>
              {text}
            </button>
          ))}
        </span>
        <Legend
          colours={
            colour === 'probability'
              ? ['≥ 90 %', '50', '20', '5', '1', 'less'].map((text, i) => [`s${i}`, text])
              : tokens.versions.slice(0, 8).map((span, i) => [`v${i % 4}`, versionOf(span)])
          }
        />
      </div>
      <div class="token-columns">
        <TokenText
          cells={cells}
          context={tokens.context}
          colour={colour}
          chosen={chosen}
          onPoint={setPointed}
          onChoose={go}
        />
        <TokenDetail tokens={tokens} stats={stats} cell={cells[pointed ?? chosen ?? -1]} />
      </div>
    </>
  );
}

const versionOf = ({ versionLabel, version }: TokensMessage['versions'][number]): string =>
  `version ${versionLabel ?? version}`;

interface SummaryProps {
  readonly tokens: TokensMessage;
  readonly stats: TokenStats | null;
  readonly cells: readonly Cell[];
  readonly onGo: (cell: number) => void;
}

function Summary({ tokens, stats, cells, onGo }: SummaryProps): JSX.Element {
  const { versions, logprobsOf, whyNotTrained, output } = tokens;
  const spanOf = ({ start, end }: TokensMessage['versions'][number]) =>
    versions.length > 1 ? ` (${start}–${end - 1})` : '';
  return (
    <div>
      <p>
        <b>{plural(output.ids.length || output.texts.length, 'token')}</b>
        {stats && (
          <>
            {' · '}mean logprob <b>{stats.mean.toFixed(3).replace('-', '−')}</b> · perplexity{' '}
            <b>{decimals(stats.perplexity)}</b>
          </>
        )}
        {versions.length > 0 && ` · ${versions.map((span) => versionOf(span) + spanOf(span)).join(', ')}`}
        <span class="dim">
          {' · '}
          {MEANING[logprobsOf] ?? logprobsOf} · {whyNotTrained === null ? 'trained' : `not trained: ${whyNotTrained}`}
        </span>
      </p>
      {stats && (
        <p class="lowest line">
          <span class="dim">least likely</span>
          {stats.lowest.map((place) => {
            const at = cells.findIndex(({ to }) => place < to);
            return (
              <button key={place} type="button" onClick={() => onGo(at)}>
                <code>{spelled(cells[at]!.text)}</code> {chance(tokens.logprobs[place]!)}
              </button>
            );
          })}
        </p>
      )}
    </div>
  );
}

const MEANING: Readonly<Record<string, string>> = {
  policy: 'logprobs of the distribution sampled from',
  raw: 'logprobs of the model at temperature 1',
  temperature: 'logprobs after temperature, before top-k and top-p',
};
