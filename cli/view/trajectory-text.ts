// A trajectory as text: the question, the answers, the verdicts. Text of models and data sets is hostile: it cannot
// steer the terminal, and each of its lines is indented.

import { placeText } from '../../domain/rollout/list-calls.ts';
import { oneLine, short } from '../../domain/text/foreign-text.ts';
import type { Parent } from '../../domain/rollout/lineage.ts';
import { questionOf } from '../../domain/query/query.ts';
import { turnReward } from '../../domain/rollout/reward.ts';
import type { NamedAct } from '../../domain/run/steering.ts';
import { contextTokens, outputTokens } from '../../domain/rollout/turn-facts.ts';
import type { EndRecord, PlayedTurn, Trajectory, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import type { CallResult } from '../../domain/tools/tool.ts';
import { indented, lines, namedNumbers, type Paint, plural, type Tint, tokensText } from '../format.ts';
import { whichOf } from '../../library/find-rollout.ts';
import { saidOf } from '../../library/people.ts';
import { actLines } from './people.ts';

export interface TrajectoryTextOptions {
  /** 1-based; undefined for all. */
  readonly only: number | undefined;
  readonly tokens: boolean;
  /** The samples of each query of the run; undefined if nobody knows. */
  readonly samples?: number | undefined;
  readonly paint: Paint;
  /** People's acts on this rollout. */
  readonly acts?: readonly NamedAct[];
}

export function trajectoryText(
  trajectory: Trajectory,
  { only, tokens, samples, paint, acts = [] }: TrajectoryTextOptions,
): string {
  const turns = trajectory.turns.filter(({ record }) => only === undefined || record.turn === only);
  const blocks = turns.map((turn) => turnText(trajectory, turn, tokens, paint, acts));
  if (only !== undefined) return blocks.join('\n\n');
  const head = [...headLines(trajectory, samples, paint), ...actLines(saidOf(acts, null), '', paint)].join('\n');
  return [head, ...blocks, endText(trajectory, paint)].join('\n\n');
}

function headLines({ rollout }: Trajectory, samples: number | undefined, paint: Paint): string[] {
  const { query, sample, attempt, settings, parent } = rollout;
  const which = lines(
    (sample > 0 || (samples ?? 1) > 1) && `sample ${sample}${samples === undefined ? '' : ` of ${samples}`}`,
    attempt > 1 && `attempt ${attempt}`,
    query.task,
    oneLine(settings.model),
  );
  const expected = query.solutions.map((s) => oneLine(s)).join(paint('dim', '  or  '));
  return lines(
    `${paint('bold', oneLine(query.queryId))}  ${paint('dim', which.join(' · '))}`,
    `${paint('dim', 'asked     ')}${oneLine(questionOf(query))}`,
    parent && `${paint('dim', 'from      ')}${lineageText(parent)}`,
    expected !== '' && `${paint('dim', 'expected  ')}${expected}`,
  );
}

/** `run first, arith-0007, from turn 2 on` */
export function lineageText(parent: Parent): string {
  const which = [`run ${oneLine(parent.run)}`, oneLine(parent.query), ...whichOf(parent)];
  return `${which.join(', ')}, from turn ${parent.turn} on`;
}

const SIGNS = { right: '✓', wrong: '✗', undecided: '?', scored: '·', called: '→' } as const;
const TINTS: Readonly<Record<keyof typeof SIGNS, Tint>> = {
  right: 'green',
  wrong: 'red',
  undecided: 'yellow',
  scored: 'cyan',
  called: 'cyan',
};

const FINISHES = {
  stop: 'ended by a stop token',
  length: 'cut at its limit',
  abort: 'aborted',
  unknown: 'ended for a reason that is not known',
} as const;

function turnText(
  { rollout, end }: Trajectory,
  { record, verdict }: PlayedTurn,
  tokens: boolean,
  paint: Paint,
  acts: readonly NamedAct[],
): string {
  const { turn, versionStart, versionEnd, startedAt, finishedAt, attempt } = record;
  const seconds = (finishedAt - startedAt) / 1000;
  const version = versionStart === versionEnd ? `${versionStart}` : `${versionStart}–${versionEnd}`;
  const facts = lines(
    `${tokensText(outputTokens(record))} after ${contextTokens(record) ?? '–'}`,
    !!record.usage?.reasoning && `${tokensText(record.usage.reasoning)} of them thought`,
    !!record.usage?.cached && `${tokensText(record.usage.cached)} of the context cached`,
    record.reply?.stopped === undefined
      ? FINISHES[record.finish]
      : `ended by the program’s stop text ${cut(JSON.stringify(record.reply.stopped))}`,
    `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`,
    versionEnd > 0 && `version ${version}`,
    attempt > 1 && `attempt ${attempt}`,
    record.carried && 'carried over',
    record.said && 'a person’s message in its context',
  );
  const { asked, reply } = record;
  const of = rollout.settings.tools ? '' : `${paint('dim', `of ${rollout.settings.numTurns}`)} `;
  const said = `${verdictText(verdict, paint)}${rewardText(rollout.settings, turn, verdict, end, paint)}`;
  const judged = lines(
    verdict?.metrics && paint('dim', `measured ${namedNumbers(verdict.metrics)}`),
    verdict?.judged && judgedText(verdict.judged, paint),
    verdict?.note !== undefined && indented(verdict.note, '', (text) => paint('yellow', text)),
  );
  const abandoned = end?.abandoned?.includes(turn) ? ` · ${paint('yellow', 'abandoned')}` : '';
  const isJudged = verdict !== null && verdict.verdict !== 'called';
  return lines(
    asked
      ? lines(
          `${paint('bold', `call ${turn}`)} · ${placeText(asked)}${abandoned}`,
          labelTexts(record, verdict, end),
        ).join(' · ')
      : `${paint('bold', `turn ${turn}`)} ${of} ${said}`,
    actLines(saidOf(acts, turn), '  ', paint),
    paint('dim', facts.join(' · ')),
    asked?.flags?.map((flag) => paint('yellow', oneLine(flag))),
    !asked && judged,
    indented(record.contextText, '  > ', (text) => paint('dim', text)),
    record.reasoning !== undefined && indented(record.reasoning, '  ~ ', (text) => paint('dim', text)),
    indented(record.outputText, '  '),
    verdict?.calls && callLines(verdict.calls, paint),
    reply?.calls?.map((call) => `  ${paint('bold', 'tool')} · ${cut(call.name)} ${cut(call.arguments)}`),
    tokens && tokenLines(record.outputIds, record.logprobs, paint),
    asked &&
      isJudged && [
        '',
        `${paint('bold', 'the program’s answer')}  ${said}`,
        ...judged,
        verdict.answer === undefined ? paint('dim', '  the reply above') : indented(verdict.answer, '  '),
      ],
  ).join('\n');
}

/** What the program said of a call, and whether it is trained. */
function labelTexts(
  { turn, asked, model }: TurnRecord,
  verdict: PlayedTurn['verdict'],
  end: EndRecord | null,
): string[] {
  return lines(
    asked?.tag !== undefined && `tag ${oneLine(asked.tag)}`,
    asked?.model !== undefined && asked.model !== model && `asked for ${oneLine(asked.model)}`,
    end?.untrained?.includes(turn) && 'not trained',
    verdict?.callReward !== undefined && `reward ${verdict.callReward}`,
  );
}

function verdictText(verdict: PlayedTurn['verdict'], paint: Paint): string {
  if (!verdict) return paint('dim', 'not judged yet');
  const word = paint(TINTS[verdict.verdict], `${SIGNS[verdict.verdict]} ${verdict.verdict}`);
  const found = verdict.extracted === undefined ? '' : `, found ${oneLine(verdict.extracted)}`;
  const call = verdict.failedCall === undefined ? '' : ` at call ${verdict.failedCall} of its tests`;
  return `${word} ${paint('dim', `(${oneLine(verdict.reason)}${call}${found})`)}`;
}

/** A model's judgement: its reply in short, its price, the hash of its prompt. */
function judgedText(
  { model, prompt, reply, promptTokens, completionTokens, cost, exact }: NonNullable<VerdictRecord['judged']>,
  paint: Paint,
): string {
  const used = `${promptTokens ?? '?'} + ${completionTokens ?? '?'} tokens${cost === undefined ? '' : `, cost ${cost}`}`;
  const said = JSON.stringify(short(reply, SHOWN_REPLY));
  const first = exact === undefined ? '' : `, the exact judge: ${oneLine(exact)}`;
  return paint('dim', `judged by ${oneLine(model)} (${used}, prompt ${prompt.slice(0, 12)}${first}): ${oneLine(said)}`);
}

const SHOWN_REPLY = 200;

function rewardText(
  settings: Trajectory['rollout']['settings'],
  turn: number,
  verdict: PlayedTurn['verdict'],
  end: Trajectory['end'],
  paint: Paint,
): string {
  if (!verdict || verdict.verdict === 'undecided' || (verdict.verdict === 'called' && !end)) return '';
  const raw = verdict.reward ?? (end?.called?.includes(turn) ? 0 : turnReward(verdict.verdict === 'right', settings));
  const parts = verdict.rewards ? ` (${namedNumbers(verdict.rewards)})` : '';
  const whole = end?.returns[turn - 1];
  return paint('dim', `  reward ${raw}${parts}${whole === undefined ? '' : `, return ${whole}`}`);
}

function endText({ rollout, end, turns }: Trajectory, paint: Paint): string {
  const noun = rollout.settings.program ? 'call' : 'turn';
  if (!end) return paint('yellow', `Not ended: ${plural(turns.length, noun)} so far.`);
  const word = paint(end.outcome === 'complete' ? 'green' : 'yellow', end.outcome);
  const why = end.failure
    ? `: ${oneLine(end.failure.reason)}: ${indented(end.failure.message, '  ').trimStart()}`
    : end.stopReason === end.outcome
      ? ''
      : ` (${end.stopReason})`;
  return `${word}${why}`;
}

const PER_LINE = 6;

function tokenLines(ids: readonly number[], logprobs: readonly number[], paint: Paint): string[] {
  const cells = ids.map((id, i) => `${String(id).padStart(7)} ${(logprobs[i] ?? NaN).toFixed(4).padStart(9)}`);
  const rows = [paint('dim', '  token id and log probability, in order')];
  for (let i = 0; i < cells.length; i += PER_LINE) rows.push(`  ${cells.slice(i, i + PER_LINE).join('  ')}`);
  return rows;
}

/** `call 1 · price {"fruit":"apple"} → 3  (ok, pure, 12 ms)` */
function callLines(calls: readonly CallResult[], paint: Paint): string[] {
  return calls.map(({ name, arguments: given, outcome, effect, ms, output, trace }, i) => {
    const facts = lines(outcome, effect, ms !== null && `${ms} ms`).join(', ');
    const asked = name === null ? 'unreadable' : `${cut(name)} ${cut(given ?? '')}`;
    const sign = outcome === 'ok' ? '→' : paint('yellow', '→');
    const call = `  ${paint('bold', `call ${i + 1}`)} · ${asked} ${sign} ${cut(output)}  ${paint('dim', `(${facts})`)}`;
    return trace === undefined ? call : `${call}\n${indented(trace, '    ', (text) => paint('yellow', text))}`;
  });
}

const SHOWN_CHARS = 160;

function cut(text: string): string {
  const line = oneLine(text.slice(0, 4 * SHOWN_CHARS));
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line;
}
