// Everything that the record knows of one token.

import type { JSX } from 'preact';
import type { TokensMessage } from '../model/messages.ts';
import type { TokenStats } from '../model/token-stats.ts';
import { bytes, spelled } from '../model/visible-bytes.ts';
import { chance, count } from './format.ts';
import type { Cells } from './token-cells.ts';

interface Props {
  readonly tokens: TokensMessage;
  readonly cells: Cells;
  readonly stats: TokenStats | null;
  readonly cell: number | null;
}

export function TokenDetail({ tokens, cells, stats, cell }: Props): JSX.Element {
  if (cell === null) {
    return (
      <aside class="detail dim" aria-live="polite">
        <p>Point at a token, or walk with the arrow keys.</p>
      </aside>
    );
  }
  const [from, to] = cells.span(cell);
  const text = tokens.output.texts.length > 0 ? cells.textOf(cell) : null;
  return (
    <aside class="detail" aria-live="polite">
      {text !== null && (
        <p class="sample">
          <code>{text === '' ? '(no text)' : spelled(text)}</code>
        </p>
      )}
      {Array.from({ length: to - from }, (_, i) => (
        <One key={from + i} tokens={tokens} stats={stats} token={from + i} />
      ))}
      <dl class="facts">
        {text !== null && text !== '' && <Fact name="bytes" value={bytes(text)} mono />}
        <Fact name="in the answer" value={`${count(from + 1)} of ${count(tokens.logprobs.length)}`} />
        <Fact name="in the sample" value={count(tokens.offset + from)} />
        <Fact name="loss" value={tokens.trained ? 'trained' : `masked: ${tokens.whyNotTrained ?? ''}`} />
      </dl>
    </aside>
  );
}

function One({
  tokens,
  stats,
  token,
}: {
  readonly tokens: TokensMessage;
  readonly stats: TokenStats | null;
  readonly token: number;
}): JSX.Element {
  const logprob = tokens.logprobs[token];
  const version = tokens.versions.find(({ end }) => token < end);
  const id = tokens.output.ids[token];
  return (
    <dl class="facts">
      {id !== undefined && <Fact name="id" value={String(id)} mono />}
      {logprob !== undefined && (
        <>
          <Fact name="probability" value={chance(logprob)} strong />
          <Fact name="logprob" value={logprob.toFixed(6)} mono />
        </>
      )}
      {stats && <Fact name="surprise" value={`rank ${count(stats.ranks[token]!)} of ${count(stats.count)}`} />}
      {version && <Fact name="version" value={version.versionLabel ?? String(version.version)} />}
    </dl>
  );
}

function Fact({
  name,
  value,
  mono,
  strong,
}: {
  readonly name: string;
  readonly value: string;
  readonly mono?: boolean;
  readonly strong?: boolean;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={mono ? 'mono' : strong ? 'strong' : undefined}>{value}</dd>
    </div>
  );
}
