// The door `command`: a program that speaks JSON lines. Its identity is a hash over the files that the command names, or
// what the program itself says of its code, with its name and version.

import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { brokenError } from '../processes/envelope.ts';
import { commandIdentity, environmentLaunch, type Log, type ProcessLaunch } from '../processes/launch.ts';
import { LineProcess } from '../processes/line-process.ts';
import { START_MS } from '../processes/process-pool.ts';
import { type Hello, parseHello } from './reply.ts';
import { mismatch } from '../other-code.ts';

/** An environment's record, and its agents, not parsed yet. */
export interface Described {
  readonly record: EnvironmentRecord;
  readonly agents: readonly JsonObject[];
}

/** The command as it describes itself, with the hash of its code. */
export async function describeCommand(words: readonly string[], log: Log): Promise<Described> {
  const { fingerprint, agents = [], ...hello } = await helloOf(environmentLaunch(words, log));
  const own = { ...hello, ...(fingerprint === undefined ? {} : { fingerprint }) };
  const record = { ...hello, door: 'command', spec: [...words], fingerprint: commandFingerprint(words, own) } as const;
  return { record, agents };
}

export function commandFingerprint(words: readonly string[], { name, version, fingerprint }: Hello): string {
  return commandIdentity(words, [name, version, fingerprint ?? null]);
}

/** Throws where the program that was started is not the run's. */
export function mustBeCommand(record: EnvironmentRecord, words: readonly string[], hello: Hello): void {
  const found = commandFingerprint(words, hello);
  if (found === record.fingerprint && hello.name === record.name && hello.state === record.state) return;
  throw mismatch(record, `${hello.name} ${hello.version}`, found);
}

/** Starts a process only to read its description. The log has shown the traceback of one that fails. */
export async function helloOf(launch: ProcessLaunch): Promise<Hello> {
  const process = new LineProcess(launch);
  try {
    return parseHello(launch.who, await process.hello({ timeoutMs: START_MS }));
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw brokenError(launch.who, 'hello', 'it cannot be read');
    throw new EnvironmentError(error.message, {
      reason: error.reason === 'environment-exited' ? 'environment-unloadable' : error.reason,
      ...(error.fix === undefined ? {} : { fix: error.fix }),
      cause: error.cause,
    });
  } finally {
    process.kill();
  }
}
