// The tokens of one turn on its real text, coloured by probability or weight version, each with its exact numbers. The
// context is there too, masked: it carries no loss.

import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useState, useEffect, useRef } from 'preact/hooks';
import type { RolloutMessage, TokensMessage } from '../model/messages.ts';
import { type Cell, cellsOf, type TokenStats, tokenStats } from '../model/token-cells.ts';
import { spelled, bytes, inText } from '../model/visible-bytes.ts';
import { chance, decimals, plural, count } from './format.ts';
import { onKey } from './keys.ts';
import { Legend, Loading, Notice, Facts } from './parts.tsx';
import { hrefOf, parseRoute, type RolloutRoute } from './route.ts';
import { replaceHash } from './replace-hash.ts';
import { type Source, useMessage } from './source.ts';

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

interface TokenDetailProps {
  readonly tokens: TokensMessage;
  readonly stats: TokenStats | null;
  readonly cell: Cell | undefined;
}

function TokenDetail({ tokens, stats, cell }: TokenDetailProps): JSX.Element {
  if (!cell) {
    return (
      <aside class="detail dim" aria-live="polite">
        <p>Point at a token, or walk with the arrow keys.</p>
      </aside>
    );
  }
  const { from, to, text } = cell;
  const isKnown = tokens.output.texts.length > 0;
  return (
    <aside class="detail" aria-live="polite">
      {isKnown && (
        <p class="sample">
          <code>{text === '' ? '(no text)' : spelled(text)}</code>
        </p>
      )}
      {Array.from({ length: to - from }, (_, i) => (
        <Facts key={from + i} facts={factsOf(from + i, tokens, stats)} />
      ))}
      <Facts
        facts={[
          isKnown && text !== '' && ['bytes', <code key="bytes">{bytes(text)}</code>],
          ['in the answer', `${count(from + 1)} of ${count(tokens.logprobs.length)}`],
          ['in the sample', count(tokens.offset + from)],
          ['loss', tokens.trained ? 'trained' : `masked: ${tokens.whyNotTrained ?? ''}`],
        ]}
      />
    </aside>
  );
}

function factsOf(token: number, { logprobs, versions, output }: TokensMessage, stats: TokenStats | null) {
  const logprob = logprobs[token];
  const version = versions.find(({ end }) => token < end);
  const id = output.ids[token];
  return [
    id !== undefined && (['id', <code key="id">{id}</code>] as const),
    logprob !== undefined && (['probability', <b key="probability">{chance(logprob)}</b>] as const),
    logprob !== undefined && (['logprob', <code key="logprob">{logprob.toFixed(6)}</code>] as const),
    stats && (['surprise', `rank ${count(stats.ranks[token]!)} of ${count(stats.count)}`] as const),
    version && (['version', version.versionLabel ?? version.version] as const),
  ];
}

const PART = 400;

type Colour = 'probability' | 'version';

interface TokenTextProps {
  readonly cells: readonly Cell[];
  readonly context: TokensMessage['context'];
  readonly colour: Colour;
  readonly chosen: number | null;
  readonly onPoint: (cell: number | null) => void;
  readonly onChoose: (cell: number) => void;
}

function TokenText({ cells, context, colour, chosen, onPoint, onChoose }: TokenTextProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' }), [chosen]);
  const cellAt = (event: Event): number | null => {
    const cell = (event.target as HTMLElement).dataset['cell'];
    return cell === undefined ? null : Number(cell);
  };
  return (
    <div class="token-text">
      <pre class="context masked">
        {context.texts.length > 0 ? context.texts.map(inText).join('') : `${context.ids.length} tokens of context`}
      </pre>
      <div
        ref={box}
        class="cells"
        tabIndex={0}
        role="group"
        aria-label="Tokens of the answer; arrow keys walk through them"
        onMouseOver={(event) => onPoint(cellAt(event))}
        onMouseLeave={() => onPoint(null)}
        onClick={(event) => {
          const cell = cellAt(event);
          if (cell !== null) onChoose(cell);
        }}
      >
        {Array.from({ length: Math.ceil(cells.length / PART) }, (_, part) => (
          <Part
            key={part}
            from={part * PART}
            cells={cells}
            colour={colour}
            chosen={chosen !== null && Math.floor(chosen / PART) === part ? chosen : null}
          />
        ))}
      </div>
    </div>
  );
}

function Part({
  from,
  cells,
  colour,
  chosen,
}: Pick<TokenTextProps, 'cells' | 'colour' | 'chosen'> & { readonly from: number }) {
  return useMemo(
    () => (
      <span>
        {cells.slice(from, from + PART).map(({ text, [colour]: style }, i) => (
          <span key={i} data-cell={from + i} class={`t ${style}${from + i === chosen ? ' chosen' : ''}`}>
            {inText(text)}
          </span>
        ))}
      </span>
    ),
    [from, cells, colour, chosen],
  );
}
