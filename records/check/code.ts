// Proves that the code in a run's folder, of environments, of modules of tools and of an agent's function, has the hash that it is named by.

import { createHash } from 'node:crypto';
import { isFunction } from '../../domain/agent/program.ts';
import { codeFile } from '../format/layout.ts';
import { readText } from '../disk/write-once.ts';
import type { RunRecord } from '../format/run-record.ts';
import type { OnBreach, Store } from '../store.ts';

export async function checkCode(store: Store, run: RunRecord | undefined, onBreach: OnBreach): Promise<void> {
  const { environments = [], tools, program } = run?.settings ?? {};
  const carried = [...environments, ...(tools?.list ?? [])].filter(
    ({ door }) => door === 'module' || door === 'rubric',
  );
  const own = program && isFunction(program) ? [program] : [];
  for (const fingerprint of new Set([...carried, ...own].map((one) => one.fingerprint))) {
    const path = codeFile(fingerprint);
    const code = await readText(`${store.folder}/${path}`);
    const found = code === undefined ? undefined : createHash('sha256').update(code).digest('hex');
    if (found === fingerprint) continue;
    onBreach({ path, problem: found === undefined ? 'is missing' : `is changed: its hash is ${found}` });
  }
}
