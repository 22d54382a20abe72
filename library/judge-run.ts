// Judges a run's turns again: a file of new verdicts beside the old ones, which stay as they are, and a summary of the changes.

import { DatasetError } from '../domain/errors/errors.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { questionOf } from '../domain/query/query.ts';
import { environmentTitle, replyFields, verdictOf } from '../domain/rollout/environment.ts';
import type { ReplyFacts } from '../domain/rollout/rollout-facts.ts';
import { answerToJudge, isCut } from '../domain/rollout/turn-facts.ts';
import { VERDICTS } from '../domain/rollout/verdict.ts';
import { oneLine } from '../domain/text/foreign-text.ts';
import { inRowOrder, judgePair, judgeWithRetries, type PairJudges } from '../environments/judge-pairs.ts';
import { judgeRules } from '../environments/rules/rules-environment.ts';
import { everturnVersion } from '../local/machine/package-root.ts';
import { judgedTurns, type JudgedTurn } from '../records/reading/judged-turns.ts';
import { mustBeFreeName, type VerdictRow, writeJudgements } from '../records/run/judgements.ts';
import { mustHoldAll } from '../records/run/present.ts';
import { type Caller, logOf, type RunEvent } from '../run/caller.ts';
import { unpacked } from '../run/environments.ts';
import type { RunPlace } from '../run/place.ts';
import { IN_FLIGHT, openJudges } from './judge-pairs.ts';

export interface JudgeRunOptions {
  /** The name of the file of verdicts. Default: version and time. */
  readonly name?: string | undefined;
  /** An environment that judges in place of Everturn's judges, without a state, as `everturn run` takes it. */
  readonly environment?: string | undefined;
  /** Runs programs that a model wrote unprotected. Default false. */
  readonly unsafeRunCodeWithoutSandbox?: boolean | undefined;
  /** Called with what happens meanwhile, such as a rollout that is left out. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
}

export type JudgedRun = Awaited<ReturnType<typeof judgeRun>>;

const NAMED_BROKEN = 20;

export async function judgeRun({ run, store }: RunPlace, caller: Caller, options: JudgeRunOptions) {
  await mustHoldAll(store);
  const { name = defaultName(caller.now()), environment, unsafeRunCodeWithoutSandbox: unsafe = false } = options;
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
      logOf(caller)(`Left out: ${oneLine(message)}`);
    },
  });
  const judges = openJudges(caller.env, unsafe);
  const own = environment === undefined ? undefined : await openOwnJudge(environment, caller);
  const judge = own ?? judgedBy(judges);
  async function* rows(): AsyncGenerator<VerdictRow> {
    let count = 0;
    const bounds = { ...IN_FLIGHT, weigh: ({ turn }: JudgedTurn) => turn.record.answer.length };
    for await (const row of inRowOrder(turns, (turn) => rowOf(turn, judge), bounds)) {
      count++;
      changes.add(row);
      yield row;
    }
    // Then nothing is written.
    if (count === 0) throw new DatasetError('The run has no judged turn.', { reason: 'no-judged-turn' });
  }
  const file = await writeJudgements(store, name, rows()).finally(() => Promise.all([judges.close(), own?.close()]));
  return { run, name, file, ...changes.summary(), leftOut };
}

/** A judge of turns, and its name and version. */
interface TurnJudge {
  readonly by: string;
  judge(turn: JudgedTurn): Promise<ReplyFacts>;
}

async function rowOf(turn: JudgedTurn, { by, judge }: TurnJudge): Promise<VerdictRow> {
  const { id, verdict: own } = turn;
  const { query, sample, attempt } = id;
  const was = { verdict: own.verdict, reason: own.reason };
  return { query, sample, attempt, turn: own.turn, of: own.of, ...(await judge(turn)), was, by };
}

const judgedBy = (judges: PairJudges): TurnJudge => ({
  by: `everturn ${everturnVersion()}`,
  async judge({ id, query, turn }) {
    const { task, solutions, inputOutput, tests } = query;
    if (task === 'environment') {
      throw unusable(
        'The run was answered by an environment of its own, which alone can judge it again.',
        'Give it with --environment.',
        'bad-arguments',
      );
    }
    if (task === 'rules') return judgeRules(query, answerToJudge(turn.record));
    const pair = {
      id: id.query,
      answer: answerToJudge(turn.record),
      judge: task === 'code' ? 'code' : 'math',
      solutions,
      ...(inputOutput && { inputOutput }),
      ...(tests && { tests }),
      // As in the run: the verdict may depend on it.
      options: { cut: isCut(turn.record), question: questionOf(query) },
    } as const;
    return judgePair(pair, judges);
  },
});

/** One that stays broken leaves the answer undecided. */
async function openOwnJudge(spec: string, caller: Caller): Promise<TurnJudge & { close(): Promise<void> }> {
  const { record, open, remove } = await unpacked(spec, caller);
  if (record.state !== 'none') {
    const problem = `has the state "${record.state}", and judges no answer by itself`;
    throw unusable(`--environment ${JSON.stringify(spec)} ${problem}.`, 'Name one without a state.');
  }
  const { environment, close } = open();
  return {
    by: environmentTitle(record),
    close: () => close().then(remove),
    judge({ rollout, turn, before }) {
      const answer = answerToJudge(turn.record);
      // One for each call: each adds its listeners.
      const { signal } = new AbortController();
      const move = { rollout, turn: turn.record.turn, answer, cut: isCut(turn.record), before: async () => before };
      return judgeWithRetries(async (): Promise<ReplyFacts> => {
        const reply = await environment.respond(move, { signal });
        const { reward } = replyFields(reply);
        return { ...verdictOf(reply), ...(reward === undefined ? {} : { reward }) };
      });
    },
  };
}

/** `everturn-0.1.0-20261121-091355` */
function defaultName(nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return `everturn-${everturnVersion()}-${time}`;
}

const EXAMPLES = 10;

function openChanges() {
  const pairs = VERDICTS.flatMap((was) => VERDICTS.map((now) => ({ was, now, turns: 0 })));
  /** `otherReason`: the same verdict with another reason. */
  const counts = { turns: 0, changed: 0, otherReason: 0 };
  /** The first changed turns. */
  const examples: VerdictRow[] = [];
  return {
    add(row: VerdictRow): void {
      const { was, verdict, reason } = row;
      counts.turns++;
      pairs.find((pair) => pair.was === was.verdict && pair.now === verdict)!.turns++;
      if (was.verdict === verdict) counts.otherReason += was.reason === reason ? 0 : 1;
      else if (++counts.changed <= EXAMPLES) examples.push(row);
    },
    /** Every pair of verdicts that occurs, unchanged ones included. */
    summary: () => ({ ...counts, verdicts: pairs.filter((pair) => pair.turns > 0), examples }),
  };
}
