// A person's acts from the page, on a rollout or on a run: each shows its command, asks for its text, and says what the
// command said. There only if the address came with the key of `everturn view --steer`.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RolloutMessage } from '../model/messages.ts';
import { commandOf, type SteerReply, type SteerRequest, typed } from '../model/steer.ts';
import { Notice } from './parts.tsx';
import { runHref } from './route.ts';
import type { Source } from './source.ts';

type Send = NonNullable<Source['steer']>;

interface RolloutProps {
  readonly run: string;
  readonly message: RolloutMessage;
  /** Null: the rollout as a whole. */
  readonly turn: number | null;
  readonly send: Send;
  readonly onActed: () => void;
}

export function Steer({ run, message, turn, send, onActed }: RolloutProps): JSX.Element {
  const label = turn === null ? 'Act on the rollout' : `Act on turn ${turn}`;
  return <Acts label={label} choices={choicesOf(run, message, turn)} send={send} onActed={onActed} />;
}

/** On a run that is played. Its page asks again by itself. */
export function SteerRun({ run, send }: { readonly run: string; readonly send: Send }): JSX.Element {
  return <Acts label="Act on the run" choices={runChoices(run)} send={send} onActed={() => {}} />;
}

/** One act to choose: the fields that it asks for, and the request that they make. */
interface Choice {
  readonly name: string;
  /** Absent: no text is asked for. */
  readonly asks?: string;
  /** The text may be empty. */
  readonly optional?: boolean;
  /** Its effect, if the name does not say all of it. */
  readonly does?: string;
  readonly numbers?: string;
  /** Default: 1. */
  readonly number?: number;
  readonly names?: boolean;
  /** False: not for this one. */
  readonly there?: boolean;
  readonly make: (text: string, number: number, name: string) => SteerRequest;
}

interface ActsProps {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly send: Send;
  readonly onActed: () => void;
}

function Acts({ label, choices, send, onActed }: ActsProps): JSX.Element {
  const [chosen, choose] = useState<Choice | null>(null);
  const [reply, setReply] = useState<SteerReply | null>(null);
  const act = async (request: SteerRequest) => {
    const answer = await send(request).catch((error: unknown): SteerReply => ({
      ok: false,
      said: error instanceof Error ? error.message : String(error),
      began: null,
    }));
    setReply(answer);
    if (!answer.ok) return;
    choose(null);
    onActed();
  };
  return (
    <div class="steer">
      <div class="acts line tight" role="group" aria-label={label}>
        {choices
          .filter(({ there = true }) => there)
          .map((choice) => (
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
          {reply.began !== null && <a href={runHref(reply.began)}>Open {reply.began}</a>}
        </Notice>
      )}
    </div>
  );
}

function choicesOf(run: string, { row, end }: RolloutMessage, turn: number | null): Choice[] {
  const on = { run, query: row.query, sample: row.sample, attempt: row.attempt };
  const may = { asks: 'The reason', optional: true } as const;
  const note: Choice = {
    name: 'Note',
    asks: 'The note',
    make: (text) => ({ act: 'note', ...on, turn: turn ?? 0, text }),
  };
  if (turn === null)
    return [
      note,
      {
        name: 'Message',
        asks: 'A message to the model, behind the feedback before its next turn',
        there: end === null,
        make: (text) => ({ act: 'say', ...on, text }),
      },
      {
        ...{ name: 'Further turns', numbers: 'Turns', names: true, there: end?.stopReason === 'max-turns' },
        ...{ asks: 'A message to the model, before the first of them', optional: true },
        make: (text, turns, name) => ({ act: 'extend', ...on, turns, text, name }),
      },
      {
        ...{ name: 'Try again', ...may, there: end?.outcome === 'failed' || end?.outcome === 'undecided' },
        make: (reason) => ({ act: 'retry', ...on, reason }),
      },
    ];
  return [
    { name: '✓ Right', ...may, make: (reason) => ({ act: 'verdict', ...on, turn, verdict: 'right', reason }) },
    { name: '✗ Wrong', ...may, make: (reason) => ({ act: 'verdict', ...on, turn, verdict: 'wrong', reason }) },
    note,
    {
      ...{ name: 'Play again from here', names: true, there: end !== null },
      ...{ asks: 'A message to the model, behind the feedback before this turn', optional: true },
      make: (text, _n, name) => ({ act: 'fork', ...on, turn, text, name }),
    },
  ];
}

const runChoices = (run: string): Choice[] => [
  {
    name: 'Pause',
    does: 'No new rollout begins; those in flight are played to their end.',
    make: () => ({ act: 'pause', run }),
  },
  { name: 'Resume', does: 'Rollouts begin again.', make: () => ({ act: 'resume', run }) },
  {
    ...{ name: 'Tune', does: 'More or fewer rollouts are in flight from now on.' },
    ...{ numbers: 'Rollouts in flight, at most', number: 16 },
    make: (_text, maxConcurrent) => ({ act: 'tune', run, maxConcurrent }),
  },
  {
    name: 'Cancel the run',
    does: 'Rollouts in flight end as cancelled, and no other begins. Finished turns stay stored. A cancelled run is not resumed.',
    make: () => ({ act: 'cancel', run }),
  },
];

interface FormProps {
  readonly choice: Choice;
  readonly onAct: (request: SteerRequest) => Promise<void>;
}

function Form({ choice, onAct }: FormProps): JSX.Element {
  const [text, setText] = useState('');
  const [number, setNumber] = useState(choice.number ?? 1);
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const request = choice.make(text.trim(), number, name.trim());
  const ready = !busy && (choice.asks === undefined || choice.optional || text.trim() !== '');
  const act = () => {
    setBusy(true);
    void onAct(request).finally(() => setBusy(false));
  };
  return (
    <div class="form">
      {choice.does !== undefined && <p>{choice.does}</p>}
      {choice.asks !== undefined && (
        <label>
          <span>
            {choice.asks}
            {choice.optional && <span class="dim"> (may be empty)</span>}
          </span>
          <textarea rows={2} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      )}
      {choice.numbers !== undefined && (
        <label>
          {choice.numbers}
          <input
            type="number"
            min={1}
            value={number}
            onInput={(event) => setNumber(Math.max(1, Math.floor(event.currentTarget.valueAsNumber || 1)))}
          />
        </label>
      )}
      {choice.names && (
        <label>
          <span>
            Name of the new run<span class="dim"> (may be empty)</span>
          </span>
          <input type="text" value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
      )}
      <p class="command dim">
        <code>{typed(commandOf(request))}</code>
      </p>
      <button type="button" class="button" disabled={!ready} onClick={act}>
        {busy ? 'Doing it …' : choice.name}
      </button>
    </div>
  );
}
