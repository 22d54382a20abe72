// The cluster that TEMPORAL_* and temporal.toml name. Temporal's own library reads them; it takes any text for an address,
// every switch but "1" and "true" for no, and a file that is not there for none. Such settings are refused here, the last
// one where nothing else names a cluster.

import { existsSync } from 'node:fs';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { UsageError } from '../../domain/errors/errors.ts';

export interface Address {
  readonly address: string;
  readonly namespace: string;
}

const SWITCHES = ['TEMPORAL_TLS', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'];
const SWITCH = /^(?:true|false|1|0|)$/;
const HOST_PORT = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/@[\],;?#\\]+)(?::(\d{1,5}))?$/;

/** The settings of TEMPORAL_* and temporal.toml. */
export function clusterConfig(): ReturnType<typeof loadClientConnectConfig> {
  for (const name of SWITCHES) {
    const value = process.env[name] ?? '';
    if (!SWITCH.test(value)) throw refusedSetting(`${name} is ${JSON.stringify(value)}.`, 'It takes true or false.');
  }
  const file = process.env['TEMPORAL_CONFIG_FILE'];
  // The local service's worker has an address, and a file that is not there on purpose: no other may count.
  if (file && !process.env['TEMPORAL_ADDRESS'] && !existsSync(file))
    throw refusedSetting(
      `TEMPORAL_CONFIG_FILE is ${JSON.stringify(file)}, and no such file is there.`,
      'Correct it, or unset it.',
    );
  const config = load();
  const address = config.connectionOptions?.address;
  if (address && !isAddress(address))
    throw refusedSetting(
      `The address of the cluster is ${JSON.stringify(address)}.`,
      'TEMPORAL_ADDRESS (or the address in temporal.toml) takes host:port without http://, such as 127.0.0.1:7233.',
    );
  return config;
}

function isAddress(text: string): boolean {
  const [whole, port = '7233'] = HOST_PORT.exec(text) ?? [];
  return whole !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
}

function load(): ReturnType<typeof loadClientConnectConfig> {
  try {
    return loadClientConnectConfig();
  } catch (cause) {
    throw badConfig(cause);
  }
}

/** The cluster that is named, or that of Temporal's own defaults. */
export function clusterAddress(): Address {
  const { connectionOptions, namespace } = clusterConfig();
  return { address: connectionOptions?.address ?? 'localhost:7233', namespace: namespace ?? 'default' };
}

/** True if the environment or temporal.toml names a cluster, and Everturn starts no server. Empty values do not count. */
export function namesCluster(): boolean {
  return Boolean(clusterConfig().connectionOptions?.address);
}

export function badConfig(cause: unknown): UsageError {
  return new UsageError('The TEMPORAL_* variables or temporal.toml cannot be understood.', {
    reason: 'bad-temporal-config',
    fix: 'TEMPORAL_CONFIG_FILE names the file; see https://docs.temporal.io/develop/environment-configuration.',
    cause,
  });
}

const refusedSetting = (message: string, fix: string): UsageError =>
  new UsageError(message, { reason: 'bad-temporal-config', fix });
