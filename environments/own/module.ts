// The door `module`: a file that is bundled when the run is made, stored in the run's folder under its hash, and loaded from
// there in processes of their own, which speak the lines of a command.

import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { compiledScript } from '../../local/machine/compiled.ts';
import { withBundle, type ModuleCode } from '../processes/bundle.ts';
import { canConfine, confineLaunch } from '../processes/confine.ts';
import { bundleLaunch, type Log, type ProcessLaunch } from '../processes/launch.ts';
import { type Described, helloOf } from './command.ts';
import type { Hello } from './reply.ts';
import { mismatch } from '../other-code.ts';

export function moduleLaunch(who: string, bundle: string, sha256: string, log: Log): ProcessLaunch {
  const script = compiledScript('./module-child', import.meta.url, EnvironmentError);
  if (!canConfine()) warnOnce(log);
  return confineLaunch(bundleLaunch(who, script, bundle, sha256, log));
}

let warned = false;
function warnOnce(log: Log): void {
  if (!warned) log('Modules run without limits on processes and memory: bubblewrap makes no namespace here.');
  warned = true;
}

export function describeModule(path: string, log: Log): Promise<Described & { readonly code: ModuleCode }> {
  return withBundle(path, async (file, code) => {
    const { fingerprint: _, agents = [], ...hello } = await helloOf(moduleLaunch(path, file, code.sha256, log));
    return { record: { ...hello, door: 'module', spec: [path], fingerprint: code.sha256 }, agents, code };
  });
}

export function mustBeModule(record: EnvironmentRecord, { name, version, state }: Hello): void {
  if (name === record.name && state === record.state) return;
  throw mismatch(record, `${name} ${version}`, record.fingerprint);
}
