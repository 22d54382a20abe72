// Plays a rollout's rules again over its records: from what was drawn, judged, called and said follows every other value, and
// each record is compared with the one that follows. A value that would follow from a broken record is taken as it stands.

import { samplesPerQuery } from '../../domain/samples/group.ts';
import { parentOf } from '../../domain/rollout/lineage.ts';
import { turnSeed } from '../../domain/names/ids.ts';
import { isFolder } from '../../domain/weights/model-identity.ts';
import { fallingVersions, type IsOlder, versionNumber } from '../../domain/weights/weight-version.ts';
import { RUN_FILE } from '../format/layout.ts';
import type { RunRecord } from '../format/run-record.ts';
import { agentProblems, rightCallVerdict } from './agent.ts';
import { answerProblems, turnProblems, chunkProblems } from './answer.ts';
import { creditProblems, startsProblems } from './credit.ts';
import { callProblems, rightCalls, rightReply } from './calls.ts';
import { carriedProblems, endProblems, CLOCK_SKEW_MS, timeProblems } from './end.ts';
import { exactProblems, shownProblems } from './context.ts';
import { differences } from './differences.ts';
import type { CheckedRollout, Problem, ReplayFacts } from './checked.ts';
import { END_FILE, fileOf, ROLLOUT_FILE } from '../format/rollout-file.ts';

/** `weightsOrder`: that in which the run declared its weights. */
type Facts = ReplayFacts & { readonly weightsOrder: () => Promise<IsOlder> };

export async function* replayProblems(checked: CheckedRollout, facts: Facts): AsyncGenerator<Problem> {
  const { turns, verdicts } = checked;
  const { run, calls: texts, clockSkewMs = CLOCK_SKEW_MS } = facts;
  yield* of(ROLLOUT_FILE, rolloutProblems(checked, run));
  yield* carriedProblems(checked);
  yield* sayProblems(checked, run);
  for (const [i, turn] of turns.entries()) {
    if (!turn) continue;
    const verdict = verdicts[i];
    yield* of(fileOf('turn', i + 1), await problemsOfTurn(checked, i, facts));
    if (!verdict) continue;
    const right = turn.record.asked
      ? rightCallVerdict(checked, i, environmentOf(checked))
      : turn.record.calls
        ? rightReply(checked, i, texts)
        : rightVerdict(checked, i);
    yield* of(fileOf('verdict', i + 1), differences(verdict, right));
    yield* of(fileOf('verdict', i + 1), creditProblems(checked.rollout, turn.record, verdict));
  }
  yield* agentProblems(checked, facts);
  yield* callProblems(checked, clockSkewMs);
  yield* chunkProblems(checked);
  yield* timeProblems(checked, clockSkewMs);
  yield* of(END_FILE, endProblems(checked));
}

function* of(file: string, problems: Iterable<string>): Generator<Problem> {
  for (const problem of problems) yield [file, problem];
}

const environmentOf = ({ rollout: { query, settings } }: CheckedRollout): string | undefined =>
  settings.environments?.find(({ name }) => name === query.environment)?.fingerprint;

function* rolloutProblems(checked: CheckedRollout, run: RunRecord | undefined): Generator<string> {
  const { rollout } = checked;
  const { query, begun, index, sample, settings } = rollout;
  const environment = environmentOf(checked);
  if (query.environment !== undefined && environment === undefined)
    yield `names the environment ${JSON.stringify(query.environment)}, which its run has not`;
  if (begun && begun.environment !== environment)
    yield `was begun by ${begun.environment}, and its environment is ${environment ?? 'none'}`;
  if (!run) return;
  const parent = run.forkedFrom && parentOf(run.forkedFrom);
  // A rollout that a client started directly may have its own settings.
  const right = { run: run.run, parent, settings: run.dataset ? run.settings : settings };
  yield* differences(rollout, right, `${RUN_FILE} says`);
  if (!run.dataset) return;
  const samples = samplesPerQuery(run);
  if (index === null) yield 'was started by itself, in the run of a data set';
  if (sample >= samples) yield `is sample ${sample} of a run with ${samples} per query`;
}

/** Ends in which a turn may have been asked for and not stored. */
const UNFINISHED = ['failed', 'cancelled', 'context-length'];

/** A person's messages. The turns that answer them hold their text and their hash. */
function* sayProblems({ turns, messages, files, end }: CheckedRollout, run: RunRecord | undefined): Generator<Problem> {
  for (const file of files) {
    if (file.kind !== 'say') continue;
    const { name, turn } = file;
    const mayWait = turn === turns.length + 1 && (!end || UNFINISHED.includes(end.stopReason));
    if (turn > turns.length && !mayWait) yield [name, `is a message before turn ${turn}, which was never played`];
    const record = messages.get(name)?.record;
    if (!record) continue;
    yield* of(name, differences(record, { turn, of: turns[turn - 2]?.hash ?? record.of }));
    const from = run?.forkedFrom;
    if (from && from.turn === turn)
      yield* of(name, differences(record, { text: from.said, by: from.by, at: from.at }, `${RUN_FILE} says`));
  }
  const from = run?.forkedFrom;
  const first = from && turns[from.turn - 1]?.record;
  if (first && from.said !== null && !first.said)
    yield [fileOf('turn', from.turn), `answers no message of a person; ${RUN_FILE} says ${JSON.stringify(from.said)}`];
}

async function problemsOfTurn(checked: CheckedRollout, i: number, facts: Facts): Promise<string[]> {
  const { rollout, turns, verdicts } = checked;
  const { record } = turns[i]!;
  const { tokenizer } = facts;
  const [turn, verdict] = [turns[i - 1]?.record, verdicts[i - 1]];
  const before = i === 0 ? null : turn && verdict && { turn, verdict, ...(record.said && { said: record.said.text }) };
  const exact = tokenizer && record.trainable !== false;
  return [
    ...differences(record, await rightTurn(checked, i, facts)),
    ...serverProblem(rollout.settings.model, record.server),
    ...answerProblems(record, fallingVersions(record.versions) ? await facts.weightsOrder() : undefined),
    ...turnProblems(record, rollout.settings),
    ...startsProblems(rollout, record),
    ...(record.asked ? [] : shownProblems(rollout, before, record)),
    ...(exact ? await exactProblems(rollout, record.asked ? undefined : before, record, tokenizer) : []),
  ];
}

async function rightTurn(checked: CheckedRollout, i: number, { run, calls, tokenizer }: ReplayFacts): Promise<object> {
  const { id, rollout, hash, turns, messages, files } = checked;
  const { settings } = rollout;
  const { record } = turns[i]!;
  const { contextIds, versions, server, model, asked } = record;
  // A call of an agent goes on from the one that it extends.
  const parent = asked ? asked.parent : i || null;
  const before = parent === null ? undefined : turns[parent - 1];
  const start = before ? before.record.contextLength + before.record.outputIds.length : 0;
  const isText = record.trainable === false;
  const isKnown = (parent === null || before !== undefined) && !(asked && isText);
  const message = messages.get(fileOf('say', i + 1));
  const isUnread = !message && files.some(({ name }) => name === fileOf('say', i + 1));
  const sent = message && {
    text: message.record.text,
    hash: record.carried ? message.record.carried?.sha256 : message.hash,
  };
  // A server of text may give the asked model another name, and a folder says which weights a server loaded.
  const identified = server === null || isFolder(model) ? null : run?.model?.name;
  return {
    turn: i + 1,
    previous: (parent === null ? hash : before?.hash) ?? record.previous,
    contextLength: isKnown ? start + contextIds.length : record.contextLength,
    outputText: isText ? record.answer : record.outputText,
    versions: versions.map((span) => {
      const { versionLabel: label } = span;
      return label === undefined ? span : { ...span, version: versionNumber(label) };
    }),
    versionStart: versions[0]?.version ?? record.versionStart,
    versionEnd: versions.at(-1)?.version ?? record.versionEnd,
    // A copy has the seed of its original's place, and the original's hash.
    seed:
      record.carried || (isText && record.seed === null)
        ? record.seed
        : turnSeed(settings.seed, id.query, id.sample, asked ? asked.call : i + 1),
    model: namedModel(settings.model) ?? identified ?? model,
    logprobsOf: record.logprobsOf && settings.logprobs,
    said: isUnread ? record.said : sent,
    calls: await rightCalls(checked, i, calls, tokenizer),
  };
}

/** The verdict of a turn that called no tools. */
const rightVerdict = (checked: CheckedRollout, i: number): object => ({
  turn: i + 1,
  of: checked.turns[i]!.hash,
  environment: environmentOf(checked),
  calls: undefined,
});

/** The urls of a model that servers have; null where it runs in the worker. */
function serversOf(model: string): readonly string[] | null {
  const [, scheme, target = ''] = /^(sglang|vllm|openai):(.*)$/s.exec(model) ?? [];
  return scheme === undefined ? null : target.split('#', 1)[0]!.split(',');
}

function originOf(url: string): string {
  return URL.canParse(url.trim()) ? new URL(url.trim()).origin : url.trim();
}

/** A run names its servers: every answer comes from one of them. */
export function* serverProblem(model: string, server: string | null): Generator<string> {
  const servers = serversOf(model);
  const isNamed =
    servers === null || server === null ? servers === server : servers.map(originOf).includes(originOf(server));
  if (!isNamed) yield `says ${server === null ? 'no server' : `the server ${server}`}, which is none of ${model}`;
}

/** The name that every answer of this model has; null where only its server or its folder says it. */
function namedModel(model: string): string | null {
  if (model === 'tiny') return 'tiny';
  const [, name] = /^openai:[^#]*#(.+)$/s.exec(model) ?? [];
  return name ?? null;
}
