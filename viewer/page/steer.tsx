// People's verdicts and notes on a turn, or on the rollout as a whole, beside the judge's verdict and never over it; and the
// forms that give one: each shows its command, asks for its text, and says what the command said. These are there only if the
// address came with the key of `everturn view --steer`.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RolloutMessage } from '../model/messages.ts';
import { commandOf, type SteerReply, type SteerRequest, shellLine } from '../model/steer.ts';
import { Notice } from './parts.tsx';
import type { Source } from './source.ts';
import { agreedVerdict, type NamedAct, standingVerdicts } from '../../domain/run/steering.ts';
import { inText } from '../model/visible-bytes.ts';
import { moment } from './format.ts';

interface Props {
  readonly run: string;
  readonly message: RolloutMessage;
  /** Null: the rollout as a whole. */
  readonly turn: number | null;
  readonly send: NonNullable<Source['steer']>;
  readonly onActed: () => void;
}

/** One act to choose, and the request that its text makes. */
interface Choice {
  readonly name: string;
  readonly asks: string;
  /** The text may be empty. */
  readonly optional?: boolean;
  readonly make: (text: string) => SteerRequest;
}

export function Steer({ run, message, turn, send, onActed }: Props): JSX.Element {
  const [chosen, choose] = useState<Choice | null>(null);
  const [reply, setReply] = useState<SteerReply | null>(null);
  const act = async (request: SteerRequest) => {
    const answer = await send(request).catch((error: unknown): SteerReply => ({
      ok: false,
      said: error instanceof Error ? error.message : String(error),
    }));
    setReply(answer);
    if (!answer.ok) return;
    choose(null);
    onActed();
  };
  return (
    <div class="steer">
      <div
        class="acts line tight"
        role="group"
        aria-label={turn === null ? 'Act on the rollout' : `Act on turn ${turn}`}
      >
        {choicesOf(run, message, turn).map((choice) => (
          <button
            key={choice.name}
            type="button"
            aria-expanded={chosen?.name === choice.name}
            onClick={() => {
              setReply(null);
              choose(chosen?.name === choice.name ? null : choice);
            }}
          >
            {choice.name}
          </button>
        ))}
      </div>
      {chosen && <Form key={chosen.name} choice={chosen} onAct={act} />}
      {reply && (
        <Notice kind={reply.ok ? 'note' : 'problem'}>
          <span class="text">{reply.said}</span>
        </Notice>
      )}
    </div>
  );
}

function choicesOf(run: string, { row }: RolloutMessage, turn: number | null): Choice[] {
  const on = { run, query: row.query, sample: row.sample, attempt: row.attempt };
  const verdict = (name: string, value: 'right' | 'wrong', of: number): Choice => ({
    ...{ name, asks: 'The reason', optional: true },
    make: (reason) => ({ act: 'verdict', ...on, turn: of, verdict: value, reason }),
  });
  return [
    ...(turn === null ? [] : [verdict('✓ Right', 'right', turn), verdict('✗ Wrong', 'wrong', turn)]),
    { name: 'Note', asks: 'The note', make: (text) => ({ act: 'note', ...on, turn: turn ?? 0, text }) },
  ];
}

interface FormProps {
  readonly choice: Choice;
  readonly onAct: (request: SteerRequest) => Promise<void>;
}

function Form({ choice, onAct }: FormProps): JSX.Element {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const request = choice.make(text.trim());
  const act = () => {
    setBusy(true);
    void onAct(request).finally(() => setBusy(false));
  };
  return (
    <div class="form">
      <label>
        <span>
          {choice.asks}
          {choice.optional && <span class="dim"> (may be empty)</span>}
        </span>
        <textarea rows={2} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <p class="command dim">
        <code>{shellLine(commandOf(request))}</code>
      </p>
      <button type="button" class="button" disabled={busy || (!choice.optional && text.trim() === '')} onClick={act}>
        {busy ? 'Doing it …' : choice.name}
      </button>
    </div>
  );
}

interface PeopleProps {
  readonly acts: readonly NamedAct[];
  /** Null: the rollout as a whole. */
  readonly turn: number | null;
}

export function People({ acts, turn }: PeopleProps): JSX.Element | null {
  const verdicts = turn === null ? [] : standingVerdicts(acts, turn);
  const notes = acts.flatMap(({ name, act }) => (act.act === 'note' && act.of.turn === turn ? [{ name, act }] : []));
  if (verdicts.length === 0 && notes.length === 0) return null;
  return (
    <ul class="notice people">
      {verdicts.map(({ name, act: { by, at, verdict, reason } }) => (
        <li key={name}>
          <span title={moment(at)}>{inText(by)}</span> says{' '}
          <b class={`verdict ${verdict}`}>
            {verdict === 'right' ? '✓' : '✗'} {verdict}
          </b>
          {reason !== null && <span class="dim text"> {inText(reason)}</span>}
        </li>
      ))}
      {notes
        .toSorted((a, b) => a.act.at - b.act.at)
        .map(({ name, act: { by, at, text } }) => (
          <li key={name}>
            <span title={moment(at)}>{inText(by)}</span> notes <span class="text">{inText(text)}</span>
          </li>
        ))}
      {agreedVerdict(verdicts) === 'disagree' && (
        <li class="state undecided">
          People disagree: <code>export --verdicts human</code> leaves this rollout out, until one of them changes their
          verdict.
        </li>
      )}
    </ul>
  );
}
