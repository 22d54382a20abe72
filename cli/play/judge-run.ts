// Judges a run's turns again: a file of new verdicts beside the old ones, and a table of the changes.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { environmentTitle, replyFields, verdictOf } from '../../domain/rollout/environment.ts';
import { DatasetError, EnvironmentError, UsageError } from '../../domain/errors/errors.ts';
import type { Judged } from '../../domain/rollout/rollout-facts.ts';
import { questionOf } from '../../domain/run/query.ts';
import { noEos } from '../../domain/rollout/turn.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import { inOrder } from '../../environments/in-order.ts';
import { judgePair } from '../../environments/judge-pairs.ts';
import { mustHoldAll } from '../../records/present.ts';
import { judgedTurns, type JudgedTurn } from '../../records/judged-turns.ts';
import { type VerdictRow, mustBeFreeName, writeJudgements } from '../../records/judgements.ts';
import { everturnVersion } from '../../local/machine/package-root.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { plural } from '../view/format.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { openChanges, type Changes } from './judge-changes.ts';
import { openOwn } from './environments.ts';
import { AT_ONCE, type Judges, MOST_CHARS, openJudges } from './judges.ts';
import { paintFor } from '../view/paint.ts';
import { findRun, shortPath } from '../find/place.ts';

export interface JudgeRun {
  readonly run: string;
  readonly out: string;
  readonly name: string | undefined;
  /** Judges in place of Everturn's judges. */
  readonly environment: string | undefined;
  readonly unsafe: boolean;
  readonly json: boolean;
}

const NAMED_BROKEN = 20;

export async function judgeRun(io: Io, given: JudgeRun): Promise<ExitCode> {
  const { run, store } = await findRun(io, given.run, given.out);
  await mustHoldAll(store);
  const name = given.name ?? defaultName(io.now());
  await mustBeFreeName(store, name);
  const changes = openChanges();
  const leftOut = { unjudged: 0, broken: 0 };
  const named = new Set<string>();
  const turns = judgedTurns(store, {
    onUnjudged: () => void leftOut.unjudged++,
    onBroken(_, { message }) {
      leftOut.broken++;
      // Rollouts of one damaged segment have one reason.
      if (named.has(message) || named.size >= NAMED_BROKEN) return;
      named.add(message);
      say(io, `Left out: ${oneLine(message)}`);
    },
  });
  const own = given.environment === undefined ? undefined : await openOwnJudge(given.environment, io);
  const judges = openJudges(io, given.unsafe);
  let file: string;
  try {
    file = await writeJudgements(store, name, rows(turns, own ?? judgedBy(judges), changes));
  } finally {
    await Promise.all([judges.close(), own?.close()]);
  }
  const summary = { run, name, file, ...changes.summary(), leftOut };
  if (given.json) printJson(io, summary);
  else {
    const { unjudged, broken } = leftOut;
    print(io, changes.text(paintFor(io.out, io.env)));
    if (unjudged > 0) print(io, `Left out: ${plural(unjudged, 'turn')} without a verdict.`);
    if (broken > 0) print(io, `Left out: ${plural(broken, 'rollout')} with damaged records.`);
    print(io, `The new verdicts are in ${shortPath(io, `${store.folder}/${file}`)}; the run's own are unchanged.`);
  }
  return EXIT.ok;
}

/** A judge of turns, and its name and version. */
interface TurnJudge {
  readonly by: string;
  judge(turn: JudgedTurn, signal: AbortSignal): Promise<Judged>;
}

function judgedBy(judges: Judges): TurnJudge {
  async function judge({ id, query, turn }: JudgedTurn): Promise<Verdict> {
    const { task, solutions, inputOutput } = query;
    if (task === 'environment') {
      throw new UsageError('The run was answered by an environment of its own, which alone can judge it again.', {
        reason: 'bad-arguments',
        fix: 'Give it with --environment.',
      });
    }
    const pair = {
      id: id.query,
      answer: turn.record.answer,
      judge: task === 'code' ? 'code' : 'math',
      solutions,
      ...(inputOutput && { inputOutput }),
      // As in the run: the verdict may depend on it.
      options: { cut: noEos(turn.record.finish), question: questionOf(query) },
    } as const;
    return judgePair(pair, judges);
  }
  return { by: `everturn ${everturnVersion()}`, judge };
}

const TRIES = 3;

/** One that stays broken leaves the answer undecided. */
async function openOwnJudge(spec: string, io: Io): Promise<TurnJudge & { close(): Promise<void> }> {
  const { record, environment, close } = await openOwn(spec, io);
  return {
    by: environmentTitle(record),
    close,
    async judge({ rollout, turn, before }, signal) {
      const { answer, finish, turn: number } = turn.record;
      const move = { rollout, turn: number, answer, cut: noEos(finish), before: async () => before };
      for (let tries = 1; ; tries++) {
        try {
          const reply = await environment.respond(move, { signal });
          const { reward } = replyFields(reply);
          return { ...verdictOf(reply), ...(reward === undefined ? {} : { reward }) };
        } catch (error) {
          if (!(error instanceof EnvironmentError)) throw error;
          if (!error.retryable || tries >= TRIES) return { verdict: 'undecided', reason: error.reason };
        }
      }
    },
  };
}

async function* rows(turns: AsyncIterable<JudgedTurn>, judge: TurnJudge, changes: Changes): AsyncGenerator<VerdictRow> {
  async function judged(one: JudgedTurn): Promise<VerdictRow> {
    const { signal } = new AbortController();
    const { id, verdict: own } = one;
    const verdict = await judge.judge(one, signal);
    const was = { verdict: own.verdict, reason: own.reason };
    const { sample, attempt } = id;
    return { query: id.query, sample, attempt, turn: own.turn, of: own.of, ...verdict, was, by: judge.by };
  }

  let count = 0;
  const weigh = ({ turn }: JudgedTurn) => turn.record.answer.length;
  for await (const row of inOrder(turns, judged, { atOnce: AT_ONCE, mostWeight: MOST_CHARS, weigh })) {
    count++;
    changes.add(row);
    yield row;
  }
  // Then nothing is written.
  if (count === 0) throw new DatasetError('The run has no judged turn.', { reason: 'no-judged-turn' });
}

/** `everturn-0.1.0-20261121-091355` */
function defaultName(nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return `everturn-${everturnVersion()}-${time}`;
}
