// A Temporal server as operators run it: the server's own program of Go modules, on PostgreSQL, with mutual TLS and its
// default limits, kept alive on the same ports. Whoever kills it finds it back with all that it had acknowledged.

import { execFile } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { spawnGuarded, type GuardedProcess } from '../../../local/machine/guarded.ts';
import { freePort } from '../../../local/machine/ports.ts';
import type { Session } from '../../../client/temporal/connection.ts';
import type { Cluster } from '../../chaos/workload.ts';
import { goBinaries } from '../../support/go-binaries.ts';
import { makeCertificates } from './certificates.ts';
import { DATABASE_USER, type Postgres } from './postgres.ts';

const MODULES = {
  folder: join(import.meta.dirname, 'temporal-server'),
  name: 'temporal-server-1.31.2',
  packages: {
    'go.temporal.io/server/cmd/server': 'temporal-server',
    'go.temporal.io/server/cmd/tools/sql': 'temporal-sql-tool',
  },
};
const SERVICES = ['frontend', 'history', 'matching', 'worker'] as const;
const NAMESPACE = 'default';

export interface RealTemporal extends Cluster {
  /** False where it is away already. */
  kill(downMs: number): boolean;
}

export interface RealTemporalOptions {
  readonly folder: string;
  readonly postgres: Postgres;
  /** This machine, for a worker of another network; default loopback alone. */
  readonly host: string | undefined;
}

export async function startRealTemporal(options: RealTemporalOptions): Promise<RealTemporal> {
  const { folder, postgres, host = '127.0.0.1' } = options;
  const binaries = await goBinaries(MODULES);
  mkdirSync(folder, { recursive: true });
  await makeSchemas(join(binaries, 'temporal-sql-tool'), postgres.port);

  const ports: number[] = [];
  // PostgreSQL's table of members holds a port in two bytes with a sign: those that the kernel picks are too high.
  const low = () => 20_000 + Math.floor(Math.random() * 12_000);
  for (let i = 0; i < 9; i++) ports.push(await freePort(Array.from({ length: 50 }, low), ports));
  const tls = makeCertificates(join(folder, 'tls'), [host, '127.0.0.1', 'localhost']);
  const side = { serverName: 'localhost', rootCaFiles: [tls.authority] };
  const [httpPort, ...rest] = ports;
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'pg',
      visibilityStore: 'pgvis',
      numHistoryShards: 4,
      datastores: {
        pg: { sql: database('temporal', postgres.port, 20) },
        pgvis: { sql: database('temporal_visibility', postgres.port, 10) },
      },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      tls: {
        frontend: {
          server: {
            certFile: tls.server.cert,
            keyFile: tls.server.key,
            requireClientAuth: true,
            clientCaFiles: [tls.authority],
          },
          client: side,
        },
        systemWorker: { certFile: tls.client.cert, keyFile: tls.client.key, client: side },
      },
    },
    services: Object.fromEntries(
      SERVICES.map((name, i) => [
        name,
        {
          rpc: {
            grpcPort: rest[2 * i],
            membershipPort: rest[2 * i + 1],
            ...(name === 'frontend' ? { bindOnIP: options.host ? '0.0.0.0' : '127.0.0.1', httpPort } : {}),
            ...(name === 'frontend' ? {} : { bindOnLocalHost: true }),
          },
        },
      ]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${rest[0]}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } },
  };
  // Every JSON text is YAML.
  writeFileSync(join(folder, 'server.yaml'), JSON.stringify(config, null, 1));

  let wanted = true;
  let lives = 0;
  let downMs = 0;
  let server: GuardedProcess | undefined;
  async function start(): Promise<void> {
    const log = openSync(join(folder, 'server.log'), 'a');
    try {
      const args = ['--config-file', join(folder, 'server.yaml'), '--allow-no-auth', 'start'];
      server = await spawnGuarded(join(binaries, 'temporal-server'), args, { stdout: log, stderr: log });
    } finally {
      closeSync(log);
    }
    lives++;
  }
  await start();
  const kept = (async () => {
    while (wanted) {
      await server?.exited;
      server = undefined;
      if (!wanted) return;
      await sleep(Math.max(100, downMs));
      if (wanted) await start();
    }
  })();

  const address = `${host}:${rest[0]}`;
  const connect = async (): Promise<Session> => {
    const connection = Connection.lazy({
      address,
      tls: {
        serverRootCACertificate: readFileSync(tls.authority),
        clientCertPair: { crt: readFileSync(tls.client.cert), key: readFileSync(tls.client.key) },
      },
    });
    const client = new Client({ connection, namespace: NAMESPACE });
    return { client, address, namespace: NAMESPACE, close: () => connection.close() };
  };
  await makeNamespace(connect);
  return {
    address,
    env: {
      TEMPORAL_ADDRESS: address,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: tls.authority,
      TEMPORAL_TLS_CLIENT_CERT_PATH: tls.client.cert,
      TEMPORAL_TLS_CLIENT_KEY_PATH: tls.client.key,
    },
    connect,
    pid: () => server?.id.pid,
    lives: () => lives,
    kill(ms) {
      if (!server) return false;
      downMs = ms;
      process.kill(server.id.pid, 'SIGKILL');
      return true;
    },
    async stop() {
      wanted = false;
      await server?.stop(2000);
      await kept;
    },
  };
}

const database = (databaseName: string, port: number, maxConns: number) => ({
  pluginName: 'postgres12',
  databaseName,
  connectAddr: `127.0.0.1:${port}`,
  connectProtocol: 'tcp',
  user: DATABASE_USER,
  password: DATABASE_USER,
  maxConns,
  maxIdleConns: maxConns,
  maxConnLifetime: '1h',
});

async function makeSchemas(tool: string, port: number): Promise<void> {
  const asked = promisify(execFile);
  const at = ['--ep', '127.0.0.1', '-p', String(port), '-u', DATABASE_USER, '--pl', 'postgres12'];
  for (const [name, schema] of [
    ['temporal', 'postgresql/v12/temporal'],
    ['temporal_visibility', 'postgresql/v12/visibility'],
  ] as const)
    for (const step of [['create'], ['setup-schema', '-v', '0.0'], ['update-schema', '--schema-name', schema]])
      await asked(tool, [...at, '--db', name, ...step], { env: { ...process.env, SQL_PASSWORD: DATABASE_USER } });
}

/** Resolves when workflows of it are found. */
async function makeNamespace(connect: () => Promise<Session>): Promise<void> {
  const session = await connect();
  const { client } = session;
  try {
    for (const end = performance.now() + 300_000; ; await sleep(500)) {
      try {
        await client.workflowService
          .registerNamespace({
            namespace: NAMESPACE,
            workflowExecutionRetentionPeriod: { seconds: (7 * 86_400) as never },
          })
          .catch((error: unknown) => {
            if ((error as { code?: number }).code !== 6) throw error;
          });
        await client.workflow.count();
        return;
      } catch (error) {
        if (performance.now() > end) throw error;
      }
    }
  } finally {
    await session.close();
  }
}
