// Proves each rollout against its run: settings, samples and queries of the run, consecutive attempts; and run.json itself.

import { isDeepStrictEqual } from 'node:util';
import { seedOfRun } from '../domain/defaults.ts';
import { samplesPerQuery } from '../domain/group.ts';
import type { RolloutId } from '../domain/ids.ts';
import type { CheckedRollout } from './rollout.ts';
import { ROLLOUT_FILE, rolloutFolder, RUN_FILE, turnFile } from '../storage/record/layout.ts';
import type { OnBreach } from '../storage/record/listing.ts';
import type { RunRecord } from '../storage/record/run-record.ts';
import type { Store } from '../storage/store.ts';

export function openRunCheck(store: Store, run: RunRecord | undefined, onBreach: OnBreach) {
  /** By server; an embedded model has none. */
  const models = new Map<string | null, string>();

  return {
    /** run.json itself. */
    run(): void {
      if (!run) return;
      const say = (problem: string) => onBreach({ path: RUN_FILE, problem });
      const { settings, origins, dataset, samples } = run;
      if (origins['seed'] === 'default' && settings.seed !== seedOfRun(run.run))
        say(`says the seed ${settings.seed} was left out; that of the run's name is ${seedOfRun(run.run)}`);
      if (!dataset && samples !== 1) say(`says ${samples} samples of a data set that there is not`);
    },

    async rollout({ id, rollout, turns }: CheckedRollout): Promise<void> {
      const folder = rolloutFolder(id);
      const say = (problem: string, file: string = ROLLOUT_FILE) => onBreach({ path: `${folder}/${file}`, problem });
      if (id.attempt > 1 && !(await isThere({ ...id, attempt: id.attempt - 1 })))
        say(`is attempt ${id.attempt}, and there is no attempt ${id.attempt - 1}`);
      for (const turn of turns) {
        if (!turn) continue;
        const { model, server, turn: number } = turn.record;
        const problem = serverProblem(rollout.settings.model, server);
        if (problem) say(problem, turnFile(number));
        const known = models.get(server);
        if (known === undefined) models.set(server, model);
        else if (known !== model)
          say(
            `says the model ${JSON.stringify(model)}; another turn of the run says ${JSON.stringify(known)}`,
            turnFile(number),
          );
      }
      // A rollout that a client started directly may have its own settings.
      if (!run?.dataset) return;
      if (rollout.index === null) return say(`was started by itself, in the run of a data set`);
      const samples = samplesPerQuery(run);
      if (rollout.sample >= samples) say(`is sample ${rollout.sample} of a run with ${samples} per query`);
      const differs = [...new Set([...Object.keys(run.settings), ...Object.keys(rollout.settings)])].filter(
        (key) => !isDeepStrictEqual(valueOf(run.settings, key), valueOf(rollout.settings, key)),
      );
      for (const key of differs)
        say(
          `says ${key} ${JSON.stringify(valueOf(rollout.settings, key))}; ${RUN_FILE} says ${JSON.stringify(valueOf(run.settings, key))}`,
        );
    },
  };

  async function isThere(id: RolloutId): Promise<boolean> {
    // Unreadable records are reported by the check of their rollout.
    return store.getRollout(id).then(
      (found) => found !== undefined,
      () => true,
    );
  }
}

const valueOf = (settings: object, key: string): unknown =>
  (settings as Readonly<Record<string, unknown>>)[key] ?? null;

/** A run names its servers: every answer comes from one of them. */
function serverProblem(model: string, server: string | null): string | undefined {
  const [, scheme, target = ''] = /^(sglang|vllm|openai):(.*)$/s.exec(model) ?? [];
  if (scheme === undefined) return server === null ? undefined : `says the server ${server}; the run asks ${model}`;
  if (server === null) return `says no server; the run asks ${model}`;
  const origins = target.split('#', 1)[0]!.split(',').map(originOf);
  return origins.includes(originOf(server)) ? undefined : `says the server ${server}, which is none of ${model}`;
}

function originOf(url: string): string {
  return URL.canParse(url.trim()) ? new URL(url.trim()).origin : url.trim();
}
