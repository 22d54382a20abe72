// The model of a run for `check`, if it is embedded and on this machine as it was: it proves which tokens an answer was drawn
// from. Uses no network and no server.

import { drawsFromSets } from '../domain/rollout/kept-sets.ts';
import { openForcedPass } from '../inference/decode/forced-pass.ts';
import { loadModel } from '../inference/embedded/load.ts';
import type { ForcedPass } from '../records/check/kept.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import { modelFolderOf } from './run-tokenizer.ts';

interface OpenPass {
  readonly pass: ForcedPass;
  close(): Promise<unknown>;
}

/** A batch is not made: nothing of one has to be found out. */
const ALONE = { padding: false, alignment: 0, exactUpTo: 0 };

/** Undefined for a run that leaves no tokens out, and where the model that played it is not here. */
export async function forcedPassOf(run: RunRecord | undefined, cwd: string): Promise<OpenPass | undefined> {
  if (!run || !drawsFromSets(run.settings) || !run.model?.weights) return undefined;
  const path = await modelFolderOf(run.settings, cwd);
  if (path === undefined) return undefined;
  const source = { kind: 'folder', path, name: run.settings.model } as const;
  // What is wrong with the model is for a run to say.
  const loaded = await loadModel({ type: 'load', source, tokenizerSize: 0 }, ALONE).catch(() => undefined);
  if (loaded && loaded.facts.fingerprint === run.model.weights)
    return { pass: openForcedPass(loaded.model), close: loaded.release };
  await loaded?.release();
  return undefined;
}
