// `everturn view` and `everturn report` as commands: addresses, files, exit codes.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { openFileStore } from '../../records/file-store.ts';
import { RUN } from '../records/play.ts';
import { playEvaluation } from '../viewer/evaluation-rig.ts';
import { playSome } from '../viewer/rig.ts';
import { listenHttp } from '../support/http-listener.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { type ScriptedIo, scriptedIo } from './scripted-io.ts';

const out = scratchFolder();
beforeAll(() => playSome(openFileStore(out, RUN)));

/** Until Ctrl-C, which `stop` presses. */
function called(...args: string[]): { io: ScriptedIo; code: Promise<number>; stop: () => void } {
  const control = new AbortController();
  const io = { ...scriptedIo({ cwd: out, env: { EVERTURN_UI: 'on' } }), interrupted: () => control.signal };
  return { io, code: main(io, args), stop: () => control.abort() };
}

describe('everturn view', () => {
  test('prints an address that answers, and ends with Ctrl-C', async () => {
    const { io, code, stop } = called('view', RUN, '--out', out);
    await expect.poll(() => io.text.out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/run\/r1\n$/);
    const { origin } = new URL(io.text.out.trim());
    const runs = (await (await fetch(`${origin}/api/runs`)).json()) as { runs: { run: string }[] };
    expect(runs.runs.map(({ run }) => run)).toEqual([RUN]);
    expect(await (await fetch(origin)).text()).toContain('/page.js');
    stop();
    expect(await code).toBe(0);
    await expect(fetch(origin)).rejects.toThrow();
  });

  test('asks for a token on a machine that others use', async () => {
    const { io, code, stop } = called('view', '--out', out, '--token', '--json');
    await expect.poll(() => io.text.out).toContain('\n');
    const { url } = JSON.parse(io.text.out) as { url: string };
    expect(url).toMatch(/\?token=[\w-]{32}$/);
    expect((await fetch(new URL(url).origin)).status).toBe(401);
    stop();
    await code;
  });

  test('says what is wrong with a port that is taken and a run that is not there', async () => {
    const { port, close } = await listenHttp(() => {});
    const busy = called('view', '--out', out, '--port', String(port));
    expect(await busy.code).toBe(2);
    expect(busy.io.text.err).toContain(`Port ${port} of 127.0.0.1 is taken. Leave --port out`);
    close();
    const beyond = called('view', '--out', out, '--port', '70000');
    expect(await beyond.code).toBe(2);
    expect(beyond.io.text.err).toContain('--port is "70000". It takes a whole number from 0 to 65535.');
    const absent = called('view', 'nothing', '--out', out);
    expect(await absent.code).toBe(2);
    expect(absent.io.text.err).toContain('There is no run "nothing"');
  });
});

describe('an evaluation', () => {
  beforeAll(() => playEvaluation(out));

  test('is opened by its name, and written as a report', async () => {
    const { io, code, stop } = called('view', 'e', '--out', out);
    await expect.poll(() => io.text.out).toMatch(/\/#\/eval\/e\n$/);
    stop();
    expect(await code).toBe(0);
    const written = called('report', 'e', '--out', out);
    expect([await written.code, written.io.text.out]).toEqual([0, './e.html\n']);
    expect(await called('report', 'e', '--out', out, '--compare', RUN).code).toBe(2);
  });
});

describe('everturn report', () => {
  test('writes one file, never over another unless asked, and says what it leaves out', async () => {
    const file = join(out, 'first.html');
    const first = called('report', RUN, '--out', out, '--to', file, '--rollouts', '1');
    expect(await first.code).toBe(0);
    expect(first.io.text.err).toMatch(/1 whole rollout.*\n.*Left out: the turns of 2 of 3 rollouts/);
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>/);
    const { mtimeMs } = statSync(file);
    const second = called('report', RUN, '--out', out, '--to', file);
    expect(await second.code).toBe(2);
    expect(second.io.text.err).toContain('Replace it with --overwrite');
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
    const third = called('report', RUN, '--out', out, '--to', file, '--overwrite', '--json');
    expect(await third.code).toBe(0);
    expect(JSON.parse(third.io.text.out)).toMatchObject({ file, rollouts: 3 });
    expect(await called('report', RUN, '--out', out, '--rollouts', 'many').code).toBe(2);
  });
});
