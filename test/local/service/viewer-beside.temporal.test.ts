// The viewer that a demo starts beside the local service: one for a folder, at an address that answers, until the service ends.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { viewerBeside } from '../../../cli/play/viewer-beside.ts';
import { createHome, homeOf } from '../../../local/service/home.ts';
import { type Phase, writeState } from '../../../local/service/state.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { RUN } from '../../records/play.ts';
import { playSome } from '../../viewer/rig.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { until } from '../../support/until.ts';
import { serviceState } from './support.ts';

const root = scratchFolder();
const out = join(root, 'runs');
const env = { ...process.env, EVERTURN_HOME: join(root, 'home'), EVERTURN_UI: 'on' };
const service = (phase: Phase) => writeState(homeOf(env), serviceState({ phase }));

const answers = (url: string) =>
  fetch(url).then(
    ({ status }) => status === 200,
    () => false,
  );

beforeAll(async () => {
  mkdirSync(out);
  createHome(homeOf(env));
  await playSome(openFileStore(out, RUN));
});
afterAll(() => service('stopped'));

describe('the viewer beside the local service', () => {
  test('shows the run until the service ends, is one for each folder, and is none without a service', async () => {
    expect(await viewerBeside(env, out, [RUN])).toBeNull();
    service('ready');
    expect(await viewerBeside({ ...env, EVERTURN_UI: 'off' }, out, [RUN])).toBeNull();
    const url = await viewerBeside(env, out, [RUN]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/run\/r1$/);
    const reply = await fetch(new URL('api/runs', url!));
    expect(await reply.json()).toMatchObject({ folder: out, runs: [{ run: RUN }] });
    expect(await viewerBeside(env, out, ['other'])).toBe(url!.replace(RUN, 'other'));
    const elsewhere = await viewerBeside(env, root, [RUN]);
    expect(new URL(elsewhere!).port).not.toBe(new URL(url!).port);
    service('stopped');
    await until('the end of both viewers', async () => !(await answers(url!)) && !(await answers(elsewhere!)));
  });
});
