// Everything that the record knows of one token.

import type { JSX } from 'preact';
import type { TokensMessage } from '../model/messages.ts';
import type { Cell, TokenStats } from '../model/token-cells.ts';
import { bytes, spelled } from '../model/visible-bytes.ts';
import { chance, count } from './format.ts';
import { Facts } from './parts.tsx';

interface Props {
  readonly tokens: TokensMessage;
  readonly stats: TokenStats | null;
  readonly cell: Cell | undefined;
}

export function TokenDetail({ tokens, stats, cell }: Props): JSX.Element {
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
