// The answer of `why` as text: one sentence, then the facts. Text of servers and judges is foreign text.

import { isFunctionQueue } from '../../domain/names/queues.ts';
import { placeText } from '../../domain/rollout/list-calls.ts';
import type { StopReason } from '../../domain/rollout/ending.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import type { CallResult } from '../../domain/tools/tool.ts';
import type { Why } from '../../library/why.ts';
import { ago, clock, indented, lines, namedNumbers, paintFor, plural, tokensText } from '../format.ts';
import { whichOf } from '../../library/find-rollout.ts';
import type { Io } from '../io.ts';
import { commandLine } from '../../library/command-line.ts';
import type { RunPlace } from '../../run/place.ts';
import { actLines } from './people.ts';
import { serverTable } from './servers.ts';

export function whyText(io: Io, place: RunPlace, why: Why): string {
  const paint = paintFor(io.out, io.env);
  const { query, turns, pending, servers, url, people = [] } = why;
  const which = whichOf(why).join(', ');
  const failing = servers.filter(({ state, failures }) => state !== 'up' || failures > 0);
  const failed = pending?.lastFailure;
  const said = (turn: number | null, margin: string) =>
    actLines(
      people.filter((one) => one.turn === turn),
      margin,
      paint,
    );
  return lines(
    `${paint('bold', oneLine(query))}${which === '' ? '' : ` (${which})`} ${sentence(io, place, why)}`,
    said(null, '  '),
    why.branches !== undefined && turns.length > 0 && callsLine(turns, why.branches),
    ...turns.map((turn) =>
      lines(
        turnLines(turn),
        turn.note !== undefined && indented(turn.note, '    '),
        turn.calls?.flatMap(({ trace = '' }) => (trace === '' ? [] : indented(trace, '    '))),
        said(turn.turn, '    '),
      ),
    ),
    failed && `  last failure: ${oneLine(failed.reason)}: ${indented(failed.message, '    ').trimStart()}`,
    pending && failing.length > 0 && ['', serverTable(failing, paint)],
    url && ['', `${paint('dim', 'Temporal')}   ${url}`],
  ).join('\n');
}

/** `calls: 8 in 3 branches, 1 abandoned` */
function callsLine(turns: Why['turns'], branches: number): string {
  const left = turns.filter(({ abandoned }) => abandoned).length;
  return `  calls: ${turns.length} in ${plural(branches, 'branch', 'branches')}${left > 0 ? `, ${left} abandoned` : ''}`;
}

function turnLines(played: Why['turns'][number]): string[] {
  const { turn, verdict, reason, tokens, seconds, attempt, server, calls, reward, rewards, metrics, asked, abandoned } =
    played;
  const facts = lines(
    tokensText(tokens),
    `${seconds.toFixed(1)} s`,
    attempt > 1 && `attempt ${attempt}`,
    server && oneLine(server),
  );
  const judged = verdict === 'undecided' ? `undecided: ${oneLine(reason ?? '')}` : (verdict ?? 'not judged yet');
  const parts = rewards ? ` (${namedNumbers(rewards)})` : '';
  const said = lines(
    verdict !== null && calls ? `called ${calledNames(calls)}` : judged,
    reward !== undefined && `reward ${reward}${parts}`,
    metrics && `measured ${namedNumbers(metrics)}`,
  ).join(' · ');
  if (!asked) return [`  turn ${turn}: ${said} (${facts.join(', ')})`];
  const place = lines(placeText(asked), abandoned && 'abandoned').join(' · ');
  const isJudged = verdict !== null && verdict !== 'called';
  return lines(`  call ${turn}: ${place} (${facts.join(', ')})`, isJudged && `  the program’s answer: ${said}`);
}

/** `price, add (failed)` */
function calledNames(calls: readonly Pick<CallResult, 'name' | 'outcome'>[]): string {
  const names = calls.map(({ name, outcome }) => {
    const shown = name === null ? 'an unreadable call' : oneLine(name);
    return outcome === 'ok' ? shown : `${shown} (${outcome})`;
  });
  return names.length <= 8
    ? names.join(', ')
    : `${names.slice(0, 8).join(', ')} and ${plural(names.length - 8, 'more', 'more')}`;
}

function sentence(io: Io, place: RunPlace, why: Why): string {
  const { state, outcome, collection, branches } = why;
  switch (state) {
    case 'ended':
      if (outcome === 'done' && branches !== undefined) return 'is complete: its program ended.';
      return ENDED[outcome ?? ''] ?? broken(io, why);
    case 'playing':
      return playing(io, why);
    case 'waiting':
      if (!collection) return 'has not begun; the run is running.';
      return collection.state === 'paused'
        ? 'has not begun: the run is paused.'
        : `has not begun: ${collection.inFlight} of at most ${collection.maxConcurrent} rollouts are in flight before it.`;
    case 'stopped':
      return `is not being played: repeat the command that started run "${place.run}", and it continues.`;
    case 'unknown':
      return `has not ended, and Temporal does not answer: \`${commandLine(io, place, 'status', '--follow')}\` starts the local service if needed.`;
  }
}

/** Its words are of then: what they ask for may be there by now. */
function broken(io: Io, { outcome, reason, message, endedAt }: Why): string {
  const how = outcome === 'undecided' ? 'could not be judged' : oneLine(outcome ?? '');
  const when = endedAt === null ? '' : ` ${ago(io.now() - endedAt)}`;
  const words = message ? `, with the words of then: ${indented(message, '  ').trimStart()}` : '.';
  return `${how}${when} (${oneLine(reason ?? '')})${words}`;
}

const SENTENCES: Readonly<Record<Exclude<StopReason, 'undecided' | 'failed'>, string>> = {
  'max-turns': 'is complete: all of its turns were played.',
  done: 'is complete: its environment ended it.',
  success: 'is complete: the answer was right.',
  'context-length': "is complete: its next turn does not fit into the model's context.",
  cancelled: 'was cancelled.',
};
const ENDED: Readonly<Record<string, string>> = SENTENCES;

const DOES: Readonly<Record<string, string>> = {
  open: 'its first record to be stored',
  log: 'its log to be stored',
  finish: 'its end to be stored',
  generate: 'the model',
  runAgent: 'its agent',
  evaluate: 'the judge',
  begin: 'its environment to begin',
  endEnvironment: 'its environment to end',
  callTool: 'a tool',
};

function playing(io: Io, { pending, waitsForWorker, turns, branches }: Why): string {
  if (!pending) return waitsForWorker ? 'waits for a worker: none has taken it.' : 'is between two steps.';
  const who = DOES[pending.name] ?? `the activity ${oneLine(pending.name)}`;
  const chunks = pending.chunksKept > 0 ? `, ${plural(pending.chunksKept, 'chunk')} of the answer stored` : '';
  const turn = branches === undefined ? `turn ${pending.turn}` : undefined;
  const at = turn ?? `${plural(turns.length, 'call')} so far`;
  const attempt = pending.attempt > 1 ? `, attempt ${pending.attempt}` : '';
  const ago = pending.since === null ? '' : ` for ${clock(io.now() - pending.since)}`;
  if (pending.waits) return `has an answer that cannot be stored yet: ${at}. ${oneLine(pending.waits)}`;
  if (pending.state === 'started') return `waits for ${who}${ago}: ${at}${attempt}${chunks}.`;
  const next = pending.nextTryAt === null ? 0 : pending.nextTryAt - io.now();
  const taker = isFunctionQueue(pending.queue) ? 'the program that made the run' : 'a worker that takes it';
  const when = next > 0 ? `is retried in ${clock(next)}` : `waits for ${taker}`;
  return `waits for ${who}: ${turn ?? 'it'} ${when}${attempt}${chunks}.`;
}
