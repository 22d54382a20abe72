// Everything that the record knows of one token.

import type { JSX } from 'preact';
import type { TokensMessage } from '../model/messages.ts';
import type { TokenStats } from '../model/token-stats.ts';
import { bytes, spelled } from '../model/visible-bytes.ts';
import { chance, count } from './format.ts';
import { Facts } from './parts.tsx';
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
      <Facts
        facts={[
          ...(text === null || text === '' ? [] : [['bytes', <code key="bytes">{bytes(text)}</code>] as const]),
          ['in the answer', `${count(from + 1)} of ${count(tokens.logprobs.length)}`],
          ['in the sample', count(tokens.offset + from)],
          ['loss', tokens.trained ? 'trained' : `masked: ${tokens.whyNotTrained ?? ''}`],
        ]}
      />
    </aside>
  );
}

interface OneProps {
  readonly tokens: TokensMessage;
  readonly stats: TokenStats | null;
  readonly token: number;
}

function One({ tokens, stats, token }: OneProps): JSX.Element {
  const logprob = tokens.logprobs[token];
  const version = tokens.versions.find(({ end }) => token < end);
  const id = tokens.output.ids[token];
  return (
    <Facts
      facts={[
        ...(id === undefined ? [] : [['id', <code key="id">{id}</code>] as const]),
        ...(logprob === undefined
          ? []
          : [
              ['probability', <b key="probability">{chance(logprob)}</b>] as const,
              ['logprob', <code key="logprob">{logprob.toFixed(6)}</code>] as const,
            ]),
        ...(stats ? [['surprise', `rank ${count(stats.ranks[token]!)} of ${count(stats.count)}`] as const] : []),
        ...(version ? [['version', version.versionLabel ?? version.version] as const] : []),
      ]}
    />
  );
}
