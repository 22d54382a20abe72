// A call of an agent's program as a part of a rollout's page: its place in the tree, the messages that the program sent, and
// the tools that the reply calls. Texts of programs and models become markup nowhere (rich-text.tsx).

import type { JSX } from 'preact';
import type { AskedCall } from '../../domain/agent/asked.ts';
import type { AgentToolCall } from '../../domain/agent/conversation.ts';
import { addedMessages, placeText } from '../../domain/agent/shown-calls.ts';
import { inText, plain } from '../model/visible-bytes.ts';
import { plural } from './format.ts';
import { LongText } from './rich-text.tsx';
import { hrefOf, type RolloutRoute } from './route.ts';

interface PlaceProps {
  readonly route: RolloutRoute;
  readonly asked: AskedCall;
  readonly isAbandoned: boolean;
}

export function Place({ route, asked, isAbandoned }: PlaceProps): JSX.Element {
  const { parent } = asked;
  const text = placeText(asked);
  return (
    <div class="said line">
      {parent === null ? (
        <span>{text}</span>
      ) : (
        <a href={hrefOf({ ...route, turn: parent, tokens: false, token: null })}>{text}</a>
      )}
      {isAbandoned && <span class="tag">abandoned</span>}
    </div>
  );
}

/** The last ones; all of them stand in the prompt below. */
const MOST_MESSAGES = 8;

export function Sent({ asked }: { readonly asked: AskedCall }): JSX.Element {
  const all = addedMessages(asked);
  const shown = all.slice(-MOST_MESSAGES);
  return (
    <div class="told">
      {shown.length < all.length && (
        <p class="dim small">{plural(all.length - shown.length, 'message')} before these: in the prompt below</p>
      )}
      {shown.map(({ role, text, calls, failed }, i) => (
        <div key={i}>
          <span class="dim">{failed ? `${role}, an error` : role}</span>
          {text !== '' && <LongText class="" text={text} />}
          {calls && <ToolCalls calls={calls} />}
        </div>
      ))}
      {asked.tools && asked.tools.length > 0 && (
        <p class="dim small text">may call {asked.tools.map(({ name }) => inText(name)).join(', ')}</p>
      )}
      {asked.flags && <p class="state undecided small text">{inText(asked.flags.join('\n'))}</p>}
    </div>
  );
}

type ToolCall = Pick<AgentToolCall, 'name' | 'arguments'>;

/** Tools that a reply calls, which the program runs. */
export function ToolCalls({ calls }: { readonly calls: readonly ToolCall[] }): JSX.Element {
  return (
    <ol class="small">
      {calls.map(({ name, arguments: given }, i) => {
        const text = typeof given === 'string' ? given : JSON.stringify(given);
        return (
          <li key={i}>
            <details class="context">
              <summary>
                calls <b>{inText(name)}</b> <span class="text">{inText(text.slice(0, 200))}</span>
              </summary>
              <pre class="text">{plain(text)}</pre>
            </details>
          </li>
        );
      })}
    </ol>
  );
}
