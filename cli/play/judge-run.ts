// Judges a run's turns again: a file of new verdicts beside the old ones, and a table of the changes.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { environmentTitle, replyFields, verdictOf } from '../../domain/rollout/environment.ts';
import { DatasetError } from '../../domain/errors/errors.ts';
import type { ReplyFacts } from '../../domain/rollout/rollout-facts.ts';
import { questionOf } from '../../domain/query/query.ts';
import { answerToJudge, isCut } from '../../domain/rollout/turn-facts.ts';
import { inRowOrder, judgePair, judgeWithRetries } from '../../environments/judge-pairs.ts';
import { unpacked } from '../../run/environments.ts';
import { mustHoldAll } from '../../records/run/present.ts';
import { judgedTurns, type JudgedTurn } from '../../records/reading/judged-turns.ts';
import { type VerdictRow, mustBeFreeName, writeJudgements } from '../../records/run/judgements.ts';
import { everturnVersion } from '../../local/machine/package-root.ts';
import { VERDICTS } from '../../domain/rollout/verdict.ts';
import { type Answer, unusable } from '../command.ts';
import { findRun } from '../find/place.ts';
import { shortPath } from '../../library/command-line.ts';
import { type Io, say } from '../io.ts';
import { type Column, count, lines, type Paint, paintFor, plural, table } from '../format.ts';
import { IN_FLIGHT, type Judges, openJudges } from './judge-lines.ts';
import { callerOf } from './say-event.ts';

export interface JudgeRun {
  readonly run: string;
  readonly out: string;
  readonly name: string | undefined;
  /** Judges in place of Everturn's judges. */
  readonly environment: string | undefined;
  readonly unsafe: boolean;
}

const NAMED_BROKEN = 20;

export async function judgeRun(io: Io, given: JudgeRun): Promise<Answer> {
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
  const judges = openJudges(io, given.unsafe);
  const own = given.environment === undefined ? undefined : await openOwnJudge(given.environment, io);
  const judge = own ?? judgedBy(judges);
  async function* rows(): AsyncGenerator<VerdictRow> {
    let count = 0;
    const options = { ...IN_FLIGHT, weigh: ({ turn }: JudgedTurn) => turn.record.answer.length };
    for await (const row of inRowOrder(turns, (turn) => rowOf(turn, judge), options)) {
      count++;
      changes.add(row);
      yield row;
    }
    // Then nothing is written.
    if (count === 0) throw new DatasetError('The run has no judged turn.', { reason: 'no-judged-turn' });
  }
  const file = await writeJudgements(store, name, rows()).finally(() => Promise.all([judges.close(), own?.close()]));
  const { unjudged, broken } = leftOut;
  return {
    json: { run, name, file, ...changes.summary(), leftOut },
    text: lines(
      textLines(changes.summary(), paintFor(io.out, io.env)),
      unjudged > 0 && `Left out: ${plural(unjudged, 'turn')} without a verdict.`,
      broken > 0 && `Left out: ${plural(broken, 'rollout')} with damaged records.`,
      `The new verdicts are in ${shortPath(io, `${store.folder}/${file}`)}; the run's own are unchanged.`,
    ).join('\n'),
  };
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

const judgedBy = (judges: Judges): TurnJudge => ({
  by: `everturn ${everturnVersion()}`,
  async judge({ id, query, turn }) {
    const { task, solutions, inputOutput } = query;
    if (task === 'environment') {
      throw unusable(
        'The run was answered by an environment of its own, which alone can judge it again.',
        'Give it with --environment.',
        'bad-arguments',
      );
    }
    const pair = {
      id: id.query,
      answer: answerToJudge(turn.record),
      judge: task === 'code' ? 'code' : 'math',
      solutions,
      ...(inputOutput && { inputOutput }),
      // As in the run: the verdict may depend on it.
      options: { cut: isCut(turn.record), question: questionOf(query) },
    } as const;
    return judgePair(pair, judges);
  },
});

/** One that stays broken leaves the answer undecided. */
async function openOwnJudge(spec: string, io: Io): Promise<TurnJudge & { close(): Promise<void> }> {
  const { record, open, remove } = await unpacked(spec, callerOf(io));
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
const SHOWN_CHARS = 60;

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

type Changes = ReturnType<ReturnType<typeof openChanges>['summary']>;
type Change = Changes['verdicts'][number];

function textLines({ turns, changed, otherReason, verdicts, examples }: Changes, paint: Paint): string[] {
  const tint = ({ was, now }: Change) => (was === now ? undefined : 'yellow');
  const columns: Column<Change>[] = [
    ['was', ({ was }) => was, tint],
    ['now', ({ now }) => now, tint],
    ['>turns', (change) => count(change.turns), tint],
  ];
  const reasons = otherReason > 0 ? `; ${count(otherReason)} alike for another reason` : '';
  return lines(
    table(verdicts, columns, paint),
    '',
    `${plural(turns, 'turn')}, ${changed === 0 ? 'none' : count(changed)} judged differently${reasons}.`,
    examples.map((row) => `  ${exampleText(row)}`),
    changed > examples.length && `  … and ${count(changed - examples.length)} more`,
  );
}

function exampleText({ query, sample, attempt, turn, was, verdict, reason, extracted }: VerdictRow): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  const found = extracted === undefined ? '' : `: ${oneLine(extracted).slice(0, SHOWN_CHARS)}`;
  const change = `${was.verdict} (${was.reason}) → ${verdict} (${reason})`;
  return `${oneLine(query)}, sample ${sample}${again}, turn ${turn}: ${change}${found}`;
}
