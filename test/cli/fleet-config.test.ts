// A fleet as a config file names it: servers with weights and limits of their own.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveOptions } from '../../run/config.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'everturn-config-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function resolved(yaml: string, flags: Record<string, unknown> = {}) {
  const configFile = join(folder, 'fleet.yaml');
  writeFileSync(configFile, yaml);
  return resolveOptions({ configFile, flags });
}

describe('a configuration file of a fleet', () => {
  test('servers, with weights and limits of their own, are the run’s model and options', () => {
    const { options, origins } = resolved(`
fleet:
  backend: sglang
  servers:
    - {url: "http://a:30000", weight: 2, maxInFlight: 128}
    - {url: "http://b:30000"}
    - http://c:30000
  policy: least_requests
  maxInFlight: 64
`);
    expect(options).toMatchObject({
      model: 'sglang:http://a:30000,http://b:30000,http://c:30000',
      fleetPolicy: 'least_requests',
      maxInFlightPerServer: 64,
      serverWeights: { 'http://a:30000': 2 },
      serverLimits: { 'http://a:30000': 128 },
    });
    expect(origins).toMatchObject({ model: 'config', serverLimits: 'config', temperature: 'default' });
  });

  test('policy, limits and weights stand beside a model too', () => {
    const yaml =
      'model: vllm:http://a\nfleet: {policy: round_robin, weights: {"http://a": 3}, limits: {"http://a": 4}}';
    expect(resolved(yaml).options).toMatchObject({
      model: 'vllm:http://a',
      fleetPolicy: 'round_robin',
      serverWeights: { 'http://a': 3 },
      serverLimits: { 'http://a': 4 },
    });
  });

  test('a flag wins over the file', () => {
    const yaml = 'fleet: {backend: vllm, servers: [{url: "http://a", maxInFlight: 2}]}';
    const { options } = resolved(yaml, { model: 'vllm:http://b', serverLimits: 'http://b=7' });
    expect(options).toMatchObject({ model: 'vllm:http://b', serverLimits: { 'http://b': 7 } });
  });

  test.each([
    ['fleet: here', 'not a group'],
    ['fleet: {servers: [http://a]}', 'backend'],
    ['fleet: {backend: openai, servers: [http://a]}', 'backend'],
    ['fleet: {backend: vllm}', 'not a list'],
    ['fleet: {backend: vllm, servers: []}', 'not a list'],
    ['fleet: {backend: vllm, servers: [{weight: 2}]}', 'no `url`'],
    ['fleet: {backend: vllm, servers: [{url: "http://a", weigth: 2}]}', 'weigth'],
    ['fleet: {backend: vllm, servers: [http://a], weights: {"http://a": 2}}', 'weights'],
    ['fleet: {backend: vllm, servers: [{url: "http://a", weight: -2}]}', 'weight'],
    ['fleet: {backend: vllm, servers: [{url: "http://a", maxInFlight: 0.5}]}', 'limits'],
    ['fleet: {backend: vllm, servers: [nowhere]}', 'does not fit'],
    ['fleet: {colour: red}', 'colour'],
    ['model: tiny\nfleet: {backend: vllm, servers: [http://a]}', 'leave one of them out'],
  ])('%s is refused by name', (yaml, words) => {
    expect(() => resolved(yaml)).toThrow(words);
  });
});
