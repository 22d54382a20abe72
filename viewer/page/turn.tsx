// One turn as a part of a conversation: its verdict, what the judge said before it, the answer, and the facts. Texts of
// models and data sets become markup nowhere (rich-text.tsx).

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { feedbackOn } from '../../domain/context/feedback.ts';
import { contextTokens } from '../../domain/rollout/turn-facts.ts';
import { referencesOf } from '../../domain/query/references.ts';
import type { RolloutMessage, TurnMessage } from '../model/messages.ts';
import { inText, plain } from '../model/visible-bytes.ts';
import { explainWord } from '../model/words.ts';
import { Expected, Value } from './asked.tsx';
import { Calls, Place, Sent } from './call.tsx';
import { count, decimals, duration, FINISH, spacedWords, plural, fourDigits, signed } from './format.ts';
import { SIGN } from './parts.tsx';
import { People } from './steer.tsx';
import { LongText, RichText } from './rich-text.tsx';
import { hrefOf, type RolloutRoute } from './route.ts';
import type { VerdictRecord } from '../../domain/rollout/trajectory.ts';

interface Props {
  readonly route: RolloutRoute;
  readonly message: RolloutMessage;
  readonly turn: TurnMessage;
  readonly expanded: boolean;
  /** The forks before a call on its path. */
  readonly depth?: number;
  /** On a page with turns of two rollouts: which one. */
  readonly side?: string;
  readonly children?: ComponentChildren;
}

export function Turn({ route, message, turn, expanded, depth = 0, side = '', children }: Props): JSX.Element {
  const { record, verdict, hasTokens } = turn;
  const { asked, reply } = record;
  const [reasoning, answer] = [reply?.reasoning ?? record.reasoning, reply?.text ?? record.answer];
  const [open, setOpen] = useState(expanded);
  useEffect(() => setOpen(expanded), [expanded]);
  const name = `${side}turn-${record.turn}`;
  return (
    <section
      class={`turn ${asked ? 'called' : (verdict?.verdict ?? 'none')}`}
      style={{ '--forks': Math.min(depth, MOST_FORKS) }}
      id={name}
      aria-labelledby={`${name}-title`}
    >
      <div class="turn-head line one">
        <h2 id={`${name}-title`}>
          {asked ? 'Call' : 'Turn'} {record.turn}
        </h2>
        {asked ? (
          <Place route={route} asked={asked} isAbandoned={message.end?.abandoned?.includes(record.turn) ?? false} />
        ) : (
          <Verdict message={message} turn={turn} />
        )}
        {hasTokens && (
          <a class="quiet" href={hrefOf({ ...route, turn: record.turn, tokens: true, token: null })}>
            tokens
          </a>
        )}
      </div>
      {asked ? <Sent asked={asked} /> : <Feedback message={message} turn={turn} />}
      <details class="context" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {record.turn === 1 || asked?.parent === null ? 'the prompt' : 'what was added'}, as the model was shown it
          {turn.contextTokens > 0 && ` · ${plural(turn.contextTokens, 'token')}`}
        </summary>
        <pre class="text">{plain(record.contextText)}</pre>
      </details>
      {reasoning !== undefined && (
        <details class="context">
          <summary>
            the thoughts before the answer, which are not judged
            {record.usage?.reasoning !== undefined && ` · ${plural(record.usage.reasoning, 'token')}`}
          </summary>
          <pre class="text">{plain(reasoning)}</pre>
        </details>
      )}
      {answer !== '' ? (
        <LongText class="answer" text={answer} />
      ) : (
        !reply?.calls && <p class="answer dim">An empty answer.</p>
      )}
      {reply?.calls && <Calls calls={reply.calls} />}
      {verdict?.calls && <Calls calls={verdict.calls} />}
      {!asked && verdict && <Judged verdict={verdict} isLast={message.turns.at(-1) === turn} />}
      <TurnFacts turn={turn} />
      <People acts={message.acts} turn={record.turn} />
      {children}
    </section>
  );
}

const MOST_FORKS = 3;

/** The answer of an agent's program, with its verdict, behind the calls. */
export function ProgramAnswer({ route, message }: Pick<Props, 'route' | 'message'>): JSX.Element | null {
  const last = message.turns.at(-1);
  if (!last?.record.asked || !last.verdict || last.verdict.verdict === 'called') return null;
  const { verdict, record } = last;
  return (
    <section class={`turn ${verdict.verdict}`} aria-label="The program’s answer">
      <div class="turn-head line">
        <h2>The program’s answer</h2>
        <Verdict message={message} turn={last} />
      </div>
      {verdict.answer === undefined ? (
        <p>
          The reply to <a href={hrefOf({ ...route, turn: record.turn, token: null })}>call {record.turn}</a>.
        </p>
      ) : (
        <LongText class="answer" text={verdict.answer} />
      )}
      <Judged verdict={verdict} isLast />
    </section>
  );
}

/** The messages between the answer before and this one. Results of calls stand with the calls. */
function Feedback({ message: { turns }, turn: { record } }: Pick<Props, 'message' | 'turn'>): JSX.Element | null {
  const before = turns.find((other) => other.record.turn === record.turn - 1)?.verdict;
  const messages = before && before.verdict !== 'called' ? feedbackOn(before) : [];
  if (messages.length === 0 && !record.said) return null;
  return (
    <div class="told">
      {messages.map(({ role, name, content }, i) => (
        <div key={i}>
          <span class="dim">{before?.messages ? plain(name ?? role) : 'feedback'}</span>
          <RichText text={content} />
        </div>
      ))}
      {record.said && (
        <div>
          <span class="dim">a person’s message to the model</span>
          <RichText text={record.said.text} />
        </div>
      )}
    </div>
  );
}

function Verdict({ message, turn }: Pick<Props, 'message' | 'turn'>): JSX.Element {
  const { verdict, reward, record } = turn;
  if (!verdict) return <span class="said verdict none">not judged yet</span>;
  const whole = message.end?.returns[record.turn - 1];
  return (
    <div class="said line">
      <b class={`verdict ${verdict.verdict}`}>
        {SIGN[verdict.verdict]} {verdict.verdict}
      </b>
      <span class="dim">{spacedWords(verdict.reason)}</span>
      {verdict.extracted !== undefined && (
        <span>
          <span class="dim">found</span>{' '}
          <b>
            <Value text={verdict.extracted} />
          </b>
        </span>
      )}
      {referencesOf(message.query).length > 0 && (
        <span>
          <span class="dim">expected</span> <Expected query={message.query} />
        </span>
      )}
      {reward !== null && (
        <span class="dim">
          <abbr title={explainWord('reward')}>reward</abbr> {signed(reward)}
          {verdict.rewards && ` (${numbersText(verdict.rewards)})`}
          {whole !== undefined && (
            <>
              , <abbr title={explainWord('return')}>return</abbr> {signed(whole)}
            </>
          )}
        </span>
      )}
      {verdict.metrics && <span class="dim">measured {numbersText(verdict.metrics)}</span>}
      {record.carried && <span class="tag">carried over</span>}
      {verdict.failedCall !== undefined && <span class="dim">at call {verdict.failedCall} of its tests</span>}
      {verdict.suspectedTamper === true && <span class="tag">addresses the judge</span>}
    </div>
  );
}

const numbersText = (numbers: Readonly<Record<string, number>>): string =>
  Object.entries(numbers)
    .map(([name, value]) => `${inText(name)} ${fourDigits(value)}`)
    .join(', ');

function TurnFacts({ turn }: { readonly turn: TurnMessage }): JSX.Element {
  const { record, outputTokens, hash } = turn;
  const { versionStart, versionEnd, finishedAt, startedAt, finish, attempt, server, reply } = record;
  const ms = Math.max(0, finishedAt - startedAt);
  const context = contextTokens(record);
  const facts = [
    `${outputTokens === null ? '– tokens' : plural(outputTokens, 'token')} after ${context === null ? '–' : count(context)}`,
    reply?.stopped === undefined ? (FINISH[finish] ?? finish) : `ended by the stop text “${inText(reply.stopped)}”`,
    `${duration(ms)}${ms > 0 && outputTokens ? `, ${rate((1000 * outputTokens) / ms)} tokens/s` : ''}`,
    ...(versionEnd === 0
      ? []
      : [`version ${versionStart === versionEnd ? versionStart : `${versionStart} to ${versionEnd}`}`]),
    ...(attempt > 1 ? [`${attempt} tries`] : []),
    ...(server === null ? [] : [server]),
  ];
  return (
    <p class="line small dim">
      {facts.join(' · ')}
      <span class="hash" title={`SHA-256 of the record: ${hash}`}>
        {hash.slice(0, 8)}
      </span>
    </p>
  );
}

const rate = (value: number): string => (value < 1000 ? decimals(value) : count(Math.round(value)));

interface JudgedProps {
  readonly verdict: VerdictRecord;
  /** No turn follows that shows the messages to the model. */
  readonly isLast: boolean;
}

export function Judged({ verdict, isLast }: JudgedProps): JSX.Element {
  const { judged, messages = [], state, done, note } = verdict;
  return (
    <>
      {judged && (
        <div class="told">
          <div>
            <span class="dim">
              the judge {inText(judged.model)}
              {judged.exact !== undefined && `, asked after the exact judge said ${spacedWords(judged.exact)}`}
              {judged.completionTokens !== null && ` · ${plural(judged.completionTokens, 'token')}`}
              {judged.cost !== undefined && ` · cost ${fourDigits(judged.cost)}`}
            </span>
            <LongText class="" text={judged.reply} />
          </div>
        </div>
      )}
      {isLast && messages.length > 0 && (
        <div class="told">
          {messages.map(({ role, name, content }, i) => (
            <div key={i}>
              <span class="dim">{plain(name ?? role)}, after the last turn</span>
              <RichText text={content} />
            </div>
          ))}
        </div>
      )}
      {done === true && <p class="dim small">The environment ended the rollout here.</p>}
      {state !== undefined && state !== null && (
        <details class="context">
          <summary>the state of the environment</summary>
          <pre class="text">{plain(JSON.stringify(state, null, 2))}</pre>
        </details>
      )}
      {note !== undefined && <pre class="fault text small">{plain(note)}</pre>}
    </>
  );
}
