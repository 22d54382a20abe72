// Proves that the replies of a run came from its own environments: each verdict carries the fingerprint of the environment
// that its query names, each beginning too, and the code that the run brought has the hash that it is named by.

import { createHash } from 'node:crypto';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { codeFile, ROLLOUT_FILE, rolloutFolder, verdictFile } from '../record/layout.ts';
import { readText } from '../disk/write-once.ts';
import type { RunRecord } from '../record/run-record.ts';
import type { OnBreach, Store } from '../store.ts';
import type { CheckedRollout } from './rollout.ts';

/** The code in the run's folder: of environments, and of modules of tools. */
export async function checkCode(store: Store, run: RunRecord | undefined, onBreach: OnBreach): Promise<void> {
  const { environments = [], tools } = run?.settings ?? {};
  const carried = [...environments, ...(tools?.list ?? [])].filter(
    ({ door }) => door === 'module' || door === 'rubric',
  );
  for (const fingerprint of new Set(carried.map((one) => one.fingerprint))) {
    const path = codeFile(fingerprint);
    const code = await readText(`${store.folder}/${path}`);
    const found = code === undefined ? undefined : createHash('sha256').update(code).digest('hex');
    if (found === fingerprint) continue;
    onBreach({ path, problem: found === undefined ? 'is missing' : `is changed: its hash is ${found}` });
  }
}

/** The replies of one rollout. */
export function checkReplies({ id, rollout, verdicts }: CheckedRollout, onBreach: OnBreach): void {
  const { query, settings, begun } = rollout;
  const say = (file: string, problem: string) => onBreach({ path: `${rolloutFolder(id)}/${file}`, problem });
  const own: EnvironmentRecord | undefined = settings.environments?.find(({ name }) => name === query.environment);
  if (query.environment !== undefined && !own)
    say(ROLLOUT_FILE, `names the environment ${JSON.stringify(query.environment)}, which its run has not`);
  if (begun && begun.environment !== own?.fingerprint)
    say(ROLLOUT_FILE, `was begun by ${begun.environment}, and its environment is ${own?.fingerprint ?? 'none'}`);
  verdicts.forEach((verdict, i) => {
    // No environment is asked about the calls of tools.
    const wanted = verdict?.verdict === 'called' ? undefined : own?.fingerprint;
    if (!verdict || verdict.environment === wanted) return;
    say(
      verdictFile(i + 1),
      `says the reply of ${verdict.environment ?? "a judge of Everturn's"}; its environment is ${own?.fingerprint ?? 'none'}`,
    );
  });
}
