// Proves one turn's record by itself and against its rollout's settings: values that a model can give, a finish reason
// that its length allows, the seed derived from its position, and times in order within the turn.

import { turnSeed, type RolloutId } from '../../domain/run/ids.ts';
import { logprobsServe } from '../../domain/rollout/logprob-meaning.ts';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import type { ChunkRecord, TurnRecord } from '../../domain/rollout/turn.ts';
import { fallingVersions, versionNumber } from '../../domain/weights/weight-version.ts';

/** Rounding may lift the logprob of a certain token this far above zero. */
const ROUNDING = 1e-3;
const LEAST_LOGPROB = -1e4;

/** Ids and logprobs of an answer, or of a chunk of one. */
export function answerProblems({ outputIds, logprobs, versions, startedAt, finishedAt }: ChunkRecord | TurnRecord) {
  const problems: string[] = [];
  if (logprobs.length !== outputIds.length)
    problems.push(`has ${logprobs.length} logprobs for ${outputIds.length} output tokens`);
  const odd = logprobs.findIndex((value) => !(value <= ROUNDING && value >= LEAST_LOGPROB));
  if (odd >= 0) problems.push(`has the logprob ${logprobs[odd]} at output token ${odd + 1}: no model gives it`);
  let at = 0;
  const contiguous = versions.every(({ start, end }) => {
    const fits = start === at && end >= start;
    at = end;
    return fits;
  });
  if (!contiguous || at !== outputIds.length) problems.push('has version spans that do not cover its output');
  for (const { version, versionLabel } of versions) {
    if (versionLabel !== undefined && versionNumber(versionLabel) !== version)
      problems.push(
        `says version ${version} of ${JSON.stringify(versionLabel)}, which is ${versionNumber(versionLabel)}`,
      );
  }
  const back = fallingVersions(versions);
  if (back) problems.push(`has versions that go back within one answer: ${back}`);
  if (finishedAt < startedAt) problems.push(`ends at ${finishedAt}, before its start at ${startedAt}`);
  return problems;
}

export function turnProblems(record: TurnRecord, id: RolloutId, settings: RolloutSettings): string[] {
  const { outputIds, versions, maxNewTokens, versionStart, versionEnd, finish, turn, seed } = record;
  const problems = answerProblems(record);
  if (outputIds.length > maxNewTokens)
    problems.push(`has ${outputIds.length} output tokens, more than its budget of ${maxNewTokens}`);
  if (maxNewTokens > settings.maxNewTokens)
    problems.push(`has a budget of ${maxNewTokens} new tokens; its rollout allows ${settings.maxNewTokens}`);
  const [first, last] = [versions[0], versions.at(-1)];
  if (first && last && (first.version !== versionStart || last.version !== versionEnd)) {
    problems.push(`says versions ${versionStart} to ${versionEnd}; its spans say ${first.version} to ${last.version}`);
  }
  const right = turnSeed(settings.seed, id.query, id.sample, turn);
  // A copy has the seed of its original's place, and the original's hash.
  if (seed !== null && seed !== right && !record.carried)
    problems.push(`says the seed ${seed}; that of its place is ${right}`);
  const wanted = settings.logprobs;
  if ((record.logprobsOf ?? wanted) !== wanted)
    problems.push(`says that its logprobs are of ${record.logprobsOf}; its rollout asks for ${wanted}`);
  return [
    ...problems,
    ...(record.trainable === false ? textProblems(record, settings) : idProblems(record, finish, settings)),
  ];
}

/** For an answer with token ids. */
function idProblems(record: TurnRecord, finish: TurnRecord['finish'], settings: RolloutSettings): string[] {
  const { outputIds, contextIds, maxNewTokens, logprobsFound: found, textLogprobs } = record;
  const problems: string[] = [];
  if (outputIds.length === 0) problems.push('has no output token, and is said to be one to train on');
  if (contextIds.length === 0) problems.push('adds no token to its context, and is marked trainable');
  // An interrupted answer is continued until its budget is used up.
  else if (finish !== 'stop' && outputIds.length < maxNewTokens)
    problems.push(`ends by ${finish} after ${outputIds.length} tokens of a budget of ${maxNewTokens}`);
  if (found !== undefined && !logprobsServe(found, settings.logprobs, settings, 0))
    problems.push(`says that its model gives ${found} logprobs, which its rollout does not accept`);
  if (record.seed === null) problems.push('says no seed; every answer with token ids has one');
  if (textLogprobs !== undefined) problems.push('has logprobs of a text as well as ids');
  const scheme = settings.model.split(':', 1)[0];
  if (scheme === 'openai') problems.push('is said to be one to train on, and came from a server that gives text only');
  return problems;
}

/** For an answer as text only. */
function textProblems(
  { outputIds, logprobs, contextIds, textLogprobs, answer, outputText, maxNewTokens }: TurnRecord,
  settings: RolloutSettings,
): string[] {
  const problems: string[] = [];
  if (outputIds.length + logprobs.length + contextIds.length > 0)
    problems.push('has token ids or logprobs, and is said to be text only');
  if (maxNewTokens !== settings.maxNewTokens)
    problems.push(
      `has a budget of ${maxNewTokens} new tokens; a server of text gets the whole ${settings.maxNewTokens}`,
    );
  if (answer !== outputText) problems.push('says two texts, though its server gave one');
  const odd = textLogprobs?.find(({ logprob }) => !(logprob <= ROUNDING && logprob >= LEAST_LOGPROB));
  if (odd) problems.push(`has the logprob ${odd.logprob} of a token of its text: no model gives it`);
  return problems;
}
