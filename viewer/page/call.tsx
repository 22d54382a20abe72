// A call of an agent's program as a part of a rollout's page: its place in the tree, and the messages that the program sent;
// and the tools that a reply calls. Texts of programs and models become markup nowhere (rich-text.tsx).

import type { JSX } from 'preact';
import type { AgentToolCall, AskedCall } from '../../domain/agent/index.ts';
import { addedMessages, placeText } from '../../domain/rollout/list-calls.ts';
import type { CallResult } from '../../domain/tools/tool.ts';
import { inText, plain } from '../model/visible-bytes.ts';
import { duration, plural } from './format.ts';
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
          {calls && <Calls calls={calls} />}
        </div>
      ))}
      {asked.tools && asked.tools.length > 0 && (
        <p class="dim small text">may call {asked.tools.map(({ name }) => inText(name)).join(', ')}</p>
      )}
      {asked.flags && <p class="state undecided small text">{inText(asked.flags.join('\n'))}</p>}
    </div>
  );
}

/** A tool that a reply calls and its program runs, or one that was run for the model. */
type Call = Pick<AgentToolCall, 'arguments'> & { readonly name: string | null } & Partial<
    Omit<CallResult, 'name' | 'arguments'>
  >;

export function Calls({ calls }: { readonly calls: readonly Call[] }): JSX.Element {
  return (
    <ol class="small">
      {calls.map(({ name, arguments: given, outcome, effect, ms, output, trace }, i) => {
        const text = typeof given === 'string' ? given : given === null ? '' : JSON.stringify(given);
        return (
          <li key={i}>
            <details class="context">
              <summary>
                {output === undefined ? 'calls' : `call ${i + 1} ·`}{' '}
                <b>{name === null ? 'unreadable' : inText(name)}</b>{' '}
                <span class="text">{inText(text.slice(0, 200))}</span>
                {output !== undefined && (
                  <>
                    {' → '}
                    <span class="text">{shortly(output)}</span>{' '}
                    <span class={outcome === 'ok' ? 'dim' : 'state failed'}>
                      {[outcome, effect, typeof ms === 'number' && duration(ms)].filter(Boolean).join(' · ')}
                    </span>
                  </>
                )}
              </summary>
              <pre class="text">{plain(output ?? text)}</pre>
              {trace !== undefined && <pre class="fault text">{plain(trace)}</pre>}
            </details>
          </li>
        );
      })}
    </ol>
  );
}

const SHORT = 80;
const shortly = (text: string): string => {
  const line = inText(text.trim().split('\n', 1)[0]!);
  return line.length > SHORT || line.length < text.trim().length ? `${line.slice(0, SHORT)} …` : line;
};
