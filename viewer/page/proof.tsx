// The proof of a run's records on its page: begun by a button, shown as `everturn check` says it, without Temporal's
// histories. The server does the work, one run after the other.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { CheckMessage } from '../model/messages.ts';
import { count, moment, plural } from './format.ts';
import { Problem } from './parts.tsx';
import { useMessage } from './use-message.ts';

interface Props {
  readonly run: string;
  readonly check: (run: string, begin: boolean) => Promise<CheckMessage>;
}

const AGAIN_MS = 1_000;

export function Proof({ run, check }: Props): JSX.Element {
  const [begun, setBegun] = useState(0);
  // The first look begins nothing, and those that follow ask how far it is.
  const sent = useRef(0);
  const { message, error } = useMessage(
    JSON.stringify(['check', run, begun]),
    () => {
      const begin = sent.current < begun;
      sent.current = begun;
      return check(run, begin);
    },
    ({ state }) => (state === 'going' ? AGAIN_MS : 0),
  );
  const going = message?.state === 'going';
  return (
    <section aria-labelledby="proof">
      <h2 id="proof">Proof of the records</h2>
      <Problem text={error} />
      <div role="status">{message && <Found message={message} />}</div>
      <p>
        <button type="button" disabled={going} onClick={() => setBegun((n) => n + 1)}>
          {message?.state === 'done' ? 'Check again' : 'Check the records'}
        </button>{' '}
        <span class="dim">
          what <code>everturn check {run}</code> does, without Temporal’s histories
        </span>
      </p>
    </section>
  );
}

function Found({ message }: { readonly message: CheckMessage }): JSX.Element | null {
  const { state, at, said, problem, breaches, first } = message;
  if (state === 'none') return null;
  return (
    <>
      {state === 'going' && (
        <p>Being checked{breaches > 0 ? `; ${plural(breaches, 'breach', 'breaches')} so far` : ' …'}</p>
      )}
      <Problem text={problem ?? undefined} />
      {state === 'done' && problem === null && (
        <p>
          <b>{breaches === 0 ? '✓' : `✗ ${plural(breaches, 'breach', 'breaches')}.`}</b> {said}{' '}
          {at !== null && <span class="dim">{moment(at)}</span>}
        </p>
      )}
      {first.length > 0 && (
        <ul class="small">
          {first.map(({ path, problem: what }, i) => (
            <li key={i}>
              <span class="path">{path}</span>: {what}
            </li>
          ))}
          {breaches > first.length && <li class="dim">and {count(breaches - first.length)} more</li>}
        </ul>
      )}
    </>
  );
}
