// Proves the model's identity in run.json by the files of that model, if they are on this machine: hashes of tokenizer,
// chat template and the shipped weights, the ids of the probe and of the canary. Not covered: the canary's logprobs,
// which only the model gives, and the weights of other models.

import { isDeepStrictEqual } from 'node:util';
import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { RunRecord } from '../format/run-record.ts';
import { serversOf } from './servers.ts';

/** The model of a run as this machine has it. Null: not known here. */
export interface KnownModel {
  readonly name: string;
  readonly identity: Pick<ModelIdentity, 'tokenizer' | 'template' | 'weights'>;
  /** Ids of the canary's text, at most. */
  canaryIds(): Promise<readonly number[]>;
  /** SHA-256 of the ids of the probe texts. */
  probe(): Promise<string>;
}

export async function modelProblems(run: RunRecord, known: KnownModel | undefined): Promise<string[]> {
  const { model, settings } = run;
  if (!model) return [];
  const problems: string[] = [];
  const embedded = serversOf(settings.model) === null;
  if (embedded && (model.probe !== null || model.canary !== null))
    problems.push('has the probe or the canary of a server, and a model that runs in the worker');
  if (!embedded && model.weights !== null) problems.push('has the hash of the weights of a server, which gives none');
  const named = { tokenizer: null, template: null, probe: null, weights: null, canary: null };
  if (settings.model.startsWith('openai:') && !isDeepStrictEqual({ ...model, ...named }, model))
    problems.push('has more than the name of a server of text, which shows no other trait');
  if (settings.model === 'tiny' && model.name !== 'tiny')
    problems.push(`has the model name ${JSON.stringify(model.name)}; the one that ships is "tiny"`);
  if (!known) return problems;
  const words = { tokenizer: 'tokenizer', template: 'chat template', weights: 'weights' };
  for (const trait of ['tokenizer', 'template', 'weights'] as const) {
    const [says, is] = [model[trait], known.identity[trait]];
    if (is !== null && says !== null && says !== is) {
      problems.push(
        `has the hash ${says.slice(0, 12)} of its model's ${words[trait]}; that of ${known.name} is ${is.slice(0, 12)}`,
      );
    }
    if (embedded && is !== null && says === null) problems.push(`lacks the hash of its model's ${words[trait]}`);
  }
  if (model.canary !== null) {
    const ids = await known.canaryIds();
    const given = Object.keys(model.canary.values).filter((key) => !key.startsWith('top:'));
    const odd = given.find(
      (key) => !/^\d+:\d+$/.test(key) || String(ids[Number.parseInt(key, 10)]) !== key.split(':')[1],
    );
    if (odd !== undefined) problems.push(`has a canary at ${odd}, which is no token of the canary by ${known.name}`);
  }
  if (model.probe !== null && model.probe !== (await known.probe()))
    problems.push(`has the hash ${model.probe.slice(0, 12)} of its server's probe ids; ${known.name} gives others`);
  return problems;
}
