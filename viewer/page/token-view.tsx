// The tokens of one turn on its real text, coloured by logprob, rank of surprise or weight version, each with its exact
// numbers. The context is there too, masked: it carries no loss. The numbers are the record's own; it holds
// no entropy and no alternatives, so none are shown.

import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { RolloutMessage, TokensMessage } from '../model/messages.ts';
import { tokenStats } from '../model/token-stats.ts';
import { spelled } from '../model/visible-bytes.ts';
import { chance, decimals, plural } from './format.ts';
import { onKey } from './keys.ts';
import { Legend, Loading, Notice } from './parts.tsx';
import { replaceHash } from './replace-hash.ts';
import { hrefOf, parseRoute, type RolloutRoute } from './route.ts';
import type { Source } from './source.ts';
import { cellsOf, type Colour, COLOURS, type Cells } from './token-cells.ts';
import { TokenDetail } from './token-detail.tsx';
import { TokenText } from './token-text.tsx';
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

function Tokens({ route, tokens }: { readonly route: Props['route']; readonly tokens: TokensMessage }): JSX.Element {
  const [colour, setColour] = useState<Colour>('logprob');
  const [pointed, setPointed] = useState<number | null>(null);
  const stats = useMemo(() => tokenStats(tokens.logprobs), [tokens]);
  const cells = useMemo(() => cellsOf(tokens, stats), [tokens]);
  const chosen = route.token !== null && route.token < cells.count ? route.token : null;
  const go = (cell: number) => {
    const token = Math.max(0, Math.min(cells.count - 1, cell));
    replaceHash(hrefOf({ ...route, token }));
  };
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
        <Legend colours={legendOf(colour, tokens)} />
      </div>
      <div class="token-columns">
        <TokenText cells={cells} tokens={tokens} colour={colour} chosen={chosen} onPoint={setPointed} onChoose={go} />
        <TokenDetail tokens={tokens} cells={cells} stats={stats} cell={pointed ?? chosen} />
      </div>
    </>
  );
}

interface SummaryProps {
  readonly tokens: TokensMessage;
  readonly stats: ReturnType<typeof tokenStats>;
  readonly cells: Cells;
  readonly onGo: (cell: number) => void;
}

function Summary({ tokens, stats, cells, onGo }: SummaryProps): JSX.Element {
  const { versions, logprobsOf, whyNotTrained } = tokens;
  return (
    <div>
      <p>
        <b>{plural(tokens.output.ids.length || tokens.output.texts.length, 'token')}</b>
        {stats && (
          <>
            {' '}
            · mean logprob <b>{stats.mean.toFixed(3).replace('-', '−')}</b> · perplexity{' '}
            <b>{decimals(stats.perplexity)}</b>
          </>
        )}
        {versions.length > 0 && (
          <>
            {' '}
            ·{' '}
            {versions
              .map(
                (v) =>
                  `version ${v.versionLabel ?? v.version}${versions.length > 1 ? ` (${v.start}–${v.end - 1})` : ''}`,
              )
              .join(', ')}
          </>
        )}
        <span class="dim">
          {' '}
          · {MEANING[logprobsOf] ?? logprobsOf} · {whyNotTrained === null ? 'trained' : `not trained: ${whyNotTrained}`}
        </span>
      </p>
      {stats && (
        <p class="lowest line">
          <span class="dim">least likely</span>
          {stats.lowest.map((place) => (
            <button key={place} type="button" onClick={() => onGo(cells.cellOf(place))}>
              <code>{spelled(cells.textOf(cells.cellOf(place)))}</code> {chance(tokens.logprobs[place]!)}
            </button>
          ))}
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

function legendOf(colour: Colour, { versions, trained }: TokensMessage): (readonly [string, string])[] {
  const masked = ['masked', 'masked: shown to the model'] as const;
  switch (colour) {
    case 'logprob':
      return [
        ['s0', '≥ 90 %'],
        ['s1', '50'],
        ['s2', '20'],
        ['s3', '5'],
        ['s4', '1'],
        ['s5', 'less'],
      ];
    case 'rank':
      return [
        ['s5', 'top 1 %'],
        ['s4', '5'],
        ['s3', '10'],
        ['s2', '20'],
        ['s1', '50'],
        ['s0', 'rest'],
      ];
    case 'version':
      return versions.slice(0, 8).map((v, i) => [`v${i % 4}`, `version ${v.versionLabel ?? v.version}`] as const);
    case 'loss':
      return [trained ? (['trained', 'trained'] as const) : (['masked', 'not trained'] as const), masked];
  }
}
