import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHome, homeAt, homeOf } from '../../../local/service/home.ts';
import { cacheFolder } from '../../../local/machine/user-folders.ts';
import { boundLog, logTail } from '../../../local/service/logs.ts';
import { endedOnPurpose, liveState, readState, writeState } from '../../../local/service/state.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { serviceState as state } from './support.ts';

function home() {
  const home = homeAt(join(testFolder(), 'home'));
  createHome(home);
  return home;
}

describe('the state of the service', () => {
  test('a state counts while the very process it names lives', () => {
    const at = home();
    writeState(at, state());
    expect(liveState(at)).toEqual(state());
    expect(readdirSync(at.folder).filter((name) => name.startsWith('service.json'))).toEqual(['service.json']);
  });

  test('a service that somebody ended is told from one that was idle, killed or failed', () => {
    expect(endedOnPurpose(state({ phase: 'stopping' }))).toBe(true);
    expect(endedOnPurpose(state({ phase: 'stopped' }))).toBe(true);
    expect(endedOnPurpose(state({ phase: 'stopped', note: 'no open run and no call for 15 minutes' }))).toBe(false);
    expect(endedOnPurpose(state({ phase: 'ready' }))).toBe(false);
    expect(endedOnPurpose(undefined)).toBe(false);
  });

  test.each([
    ['its process is gone', { supervisor: { pid: 999_999_999, startTime: '1' } }],
    ['its pid belongs to another process now', { supervisor: { pid: process.pid, startTime: '1' } }],
    ['it has stopped', { phase: 'stopped' as const }],
  ])('a state does not count when %s, and can still be read', (_, change) => {
    const at = home();
    writeState(at, state(change));
    expect(liveState(at)).toBeUndefined();
    expect(readState(at)).toEqual(state(change));
  });

  test.each(['', '{"format":1', '{"format":2,"supervisor":{"pid":1}}', 'null', '[]'])(
    'a damaged state counts as none: %s',
    (text) => {
      const at = home();
      writeFileSync(at.stateFile, text);
      expect(liveState(at)).toBeUndefined();
    },
  );

  test('a service on another machine that shares the folder is refused while its state is fresh', () => {
    const at = home();
    writeState(at, state({ host: 'elsewhere' }));
    expect(() => liveState(at)).toThrow(/runs on another machine, elsewhere/);
    utimesSync(at.stateFile, new Date(0), new Date(0));
    expect(liveState(at)).toBeUndefined();
  });

  test('the home is the user’s alone, and in the XDG state folder unless named', () => {
    const at = home();
    expect(statSync(at.folder).mode & 0o777).toBe(0o700);
    expect(homeOf({ HOME: '/h' }).folder).toBe('/h/.local/state/everturn');
    expect(homeOf({ HOME: '/h', XDG_STATE_HOME: '/s' }).folder).toBe('/s/everturn');
    expect(homeOf({ HOME: '/h', XDG_STATE_HOME: 'relative' }).folder).toBe('/h/.local/state/everturn');
    expect(homeOf({ HOME: '/h', EVERTURN_HOME: '/e' }).folder).toBe('/e');
    expect(cacheFolder({ HOME: '/h' })).toBe('/h/.cache/everturn');
  });

  test('a log that outgrows its bound is cut and its last part kept beside it', () => {
    const file = join(testFolder(), 'log');
    writeFileSync(file, 'x'.repeat(100));
    boundLog(file, 100);
    expect(existsSync(`${file}.1`)).toBe(false);
    boundLog(file, 99);
    expect([statSync(file).size, statSync(`${file}.1`).size]).toEqual([0, 100]);
  });

  test('the tail of a log is its last lines, from where the start began', () => {
    const file = join(testFolder(), 'log');
    writeFileSync(file, 'old\none\ntwo\nthree\n');
    expect(logTail(file, 2)).toBe('two\nthree');
    expect(logTail(file, 20, 8192, 4)).toBe('one\ntwo\nthree');
    expect(logTail(join(file, 'absent'))).toBe('');
  });
});
