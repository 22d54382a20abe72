// Settings of which no connection can be made are refused by name, before anything waits for a cluster that cannot come.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { clusterAddress } from '../../client/temporal/cluster-settings.ts';

afterEach(() => vi.unstubAllEnvs());

function addressWith(name: string, value: string): string {
  vi.stubEnv(name, value);
  return clusterAddress().address;
}

const refusal = (message: RegExp) =>
  expect.objectContaining({ reason: 'bad-temporal-config', message: expect.stringMatching(message) });

describe('the settings of the cluster', () => {
  test.each(['there:7233', 'there', '10.0.0.1:1', '[::1]:65535', 'a.b-c_d.example:443', 'ns.acct.tmprl.cloud:7233'])(
    'take the address %s',
    (address) => expect(addressWith('TEMPORAL_ADDRESS', address)).toBe(address),
  );

  test.each([
    ...[
      'http://there:7233',
      'https://there',
      'there:0',
      'there:65536',
      'there:99999',
      'there:7233/',
      'there:',
      ':7233',
    ],
    ...[
      'a,b:7233',
      'there?x:1',
      'two words:7233',
      'user@there:7233',
      '::1:7233',
      'there:7233,other:7233',
      'there:seven',
      ' there:7233',
    ],
  ])('refuse the address %j', (address) => {
    expect(() => addressWith('TEMPORAL_ADDRESS', address)).toThrow(refusal(/^The address of the cluster is ".+"\.$/));
  });

  test.each(['yes', 'True', 'maybe', 'on', ' true'])(
    'refuse %j as a switch, which the library takes for no',
    (value) => {
      for (const name of ['TEMPORAL_TLS', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION']) {
        vi.stubEnv('TEMPORAL_TLS', '');
        expect(() => addressWith(name, value)).toThrow(refusal(new RegExp(`^${name} is `)));
      }
    },
  );

  test('refuse a file that is not there, and take none', () => {
    expect(() => addressWith('TEMPORAL_CONFIG_FILE', '/nowhere.toml')).toThrow(refusal(/no such file is there/));
    expect(addressWith('TEMPORAL_CONFIG_FILE', '')).toBe('localhost:7233');
  });
});
