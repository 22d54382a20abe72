// Which programs a worker runs as a run's agent: that of the user's own command, and those that its operator serves.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ProgramRecord } from '../../../domain/agent/program.ts';
import { operatorOf, type OperatorWords } from '../../../local/permissions/operator.ts';
import { openPermissions } from '../../../local/permissions/permissions.ts';
import { registerRun } from '../../../local/permissions/registered.ts';
import { homeAt } from '../../../local/service/home.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const root = scratchFolder();
const home = homeAt(join(root, 'home'));
const [own, foreign] = ['own', 'foreign'].map((name) => {
  mkdirSync(join(root, name));
  return join(root, name);
}) as [string, string];

const program = (spec: readonly string[]): ProgramRecord => ({
  spec,
  fingerprint: 'a'.repeat(64),
  timeoutSeconds: 60,
  maxCalls: 9,
});
const MINE = program(['python3', '/opt/me/agent.py']);
const EVIL = program(['sh', '-c', 'id']);
const model = { model: 'tiny', tokenizer: null, apiKeyEnv: null };
registerRun(home, { folder: own, ...model }, { program: MINE });

function use(asked: ProgramRecord, folder: string, flags: OperatorWords = {}) {
  try {
    return openPermissions(operatorOf({}, flags, { cwd: root }), home).mayRunAgent(asked, folder);
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

describe("the program of a run's agent", () => {
  test('is run for a run that the own command started, and as that command named it', () => {
    expect(use(MINE, own)).toEqual(MINE.spec);
    expect(use(EVIL, own)).toBe('agent-not-served');
    expect(use(MINE, foreign)).toBe('agent-not-served');
  });

  test('is not registered by a command that only reads the folder of a run, and stays registered through one', () => {
    registerRun(home, { folder: foreign, ...model, program: EVIL } as never);
    expect(use(EVIL, foreign)).toBe('agent-not-served');
    registerRun(home, { folder: own, ...model, program: EVIL } as never);
    expect([use(EVIL, own), use(MINE, own)]).toEqual(['agent-not-served', MINE.spec]);
  });

  test('has the key of its side models sent as its own command or the operator says, and nowhere else', () => {
    const mine = { ...MINE, sideModels: [{ name: 's', url: 'https://a/v1', apiKeyEnv: 'A_API_KEY' }] };
    const folder = join(root, 'sides');
    mkdirSync(folder);
    registerRun(home, { folder, ...model }, { program: mine });
    const elsewhere = { ...mine, sideModels: [{ ...mine.sideModels[0]!, url: 'https://evil/v1' }] };
    const session = { ...elsewhere, spec: ['session'] };
    expect(use(mine, folder)).toEqual(MINE.spec);
    expect([elsewhere, session].map((one) => use(one, folder))).toEqual(['not-allowed', 'not-allowed']);
    expect(use(session, foreign, { apiKeyEnv: 'A_API_KEY=https://evil' })).toEqual(['session']);
    expect(use({ ...mine, sideModels: [{ name: 's', url: 'https://evil/v1' }] }, folder)).toEqual(MINE.spec);
  });

  test('is run for any run where the operator serves the same command', () => {
    expect(use(MINE, foreign, { agents: [MINE.spec] })).toEqual(MINE.spec);
    expect(use(EVIL, foreign, { agents: [MINE.spec] })).toBe('agent-not-served');
  });
});
