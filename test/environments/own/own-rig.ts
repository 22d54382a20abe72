// Users' own environments for one test file: described and opened in a folder of their own, and closed with it at the end.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { EnvironmentRecord } from '../../../domain/rollout/environment.ts';
import { createOwnEnvironments, describeOwnEnvironment } from '../../../environments/own/own-environments.ts';
import { parseSpec } from '../../../environments/own/spec.ts';
import { putCode } from '../../../records/run/code.ts';
import { serveEnvironment } from './http-server.ts';

/** Where the games of the tests are. */
export const HERE = import.meta.dirname;

interface Closable {
  close(): unknown;
}

export function ownRig() {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-own-'));
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const opened: Closable[] = [];
  const closing = <T extends Closable>(one: T): T => {
    opened.push(one);
    return one;
  };
  afterAll(async () => {
    for (const one of opened.splice(0).toReversed()) await one.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function describeText(text: string, from = HERE) {
    const described = await describeOwnEnvironment(parseSpec(text, from), log);
    if (described.code) await putCode(folder, described.code);
    return described;
  }
  return {
    folder,
    lines,
    closing,
    describeText,
    described: async (text: string, from?: string): Promise<EnvironmentRecord> =>
      (await describeText(text, from)).record,
    open: (more: Partial<Parameters<typeof createOwnEnvironments>[0]> = {}) =>
      closing(createOwnEnvironments({ log, permitted: ({ spec }) => spec, ...more })),
    serve: async (...args: Parameters<typeof serveEnvironment>) => closing(await serveEnvironment(...args)),
  };
}
