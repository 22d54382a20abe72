import { afterEach, describe, expect, test } from 'vitest';
import { Circuit } from '../../inference/fleet/circuit.ts';

const opened: Circuit[] = [];
afterEach(() => opened.splice(0).forEach((circuit) => circuit.close()));

function circuit(probe: () => Promise<void> = () => new Promise(() => undefined), coolDownMs = 5) {
  const made = new Circuit({ probe, onChange: () => undefined, coolDownMs, longestCoolDownMs: 40, random: () => 0.5 });
  opened.push(made);
  return made;
}

describe('a server’s circuit', () => {
  test('opens at three failures in a row of a server that answers nobody', () => {
    const it = circuit();
    it.failed(false);
    it.failed(false);
    expect(it.state).toBe('up');
    it.failed(false);
    expect(it.state).toBe('down');
    expect(it.admits(0)).toBe(false);
  });

  test('goes on asking a server that fails often and answers others meanwhile', () => {
    const it = circuit();
    it.succeeded();
    for (let i = 0; i < 20; i++) it.failed(false);
    expect(it.state).toBe('up');
  });

  test('opens at once where nobody is there', () => {
    const it = circuit(undefined, 10_000);
    it.failed(true);
    expect(it.state).toBe('down');
    expect(it.retryInMs).toBeGreaterThan(0);
  });

  test('lets one request through after a probe, then two, four, and at last all', async () => {
    const it = circuit(async () => undefined);
    it.failed(true);
    await expect.poll(() => it.state).toBe('trying');
    for (let allowed = 1; allowed < 64; allowed *= 2) {
      expect(it.admits(allowed - 1)).toBe(true);
      expect(it.admits(allowed)).toBe(false);
      it.succeeded();
    }
    expect(it.state).toBe('up');
    expect(it.admits(10_000)).toBe(true);
  });

  test('probes one at a time, and goes on until one succeeds', async () => {
    let running = 0;
    let most = 0;
    let probes = 0;
    const it = circuit(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      if (++probes < 3) throw new Error('not yet');
    });
    it.failed(true);
    it.failed(true);
    await expect.poll(() => it.state).toBe('trying');
    expect(probes).toBe(3);
    expect(most).toBe(1);
  });

  test('one failure of a server that is being tried and has not answered yet sends it back', async () => {
    const it = circuit(async () => undefined);
    it.failed(true);
    await expect.poll(() => it.state).toBe('trying');
    it.failed(false);
    expect(it.state).toBe('down');
  });
});
