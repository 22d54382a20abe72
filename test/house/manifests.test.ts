// The examples for Kubernetes and Slurm say what this version understands. Their own form is checked by the schemas of
// Kubernetes and KEDA, which are not here (docs/operate.md).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { flagOf } from '../../domain/errors/unusable.ts';
import { parse, parseAllDocuments } from 'yaml';
import { deploymentOf } from '../../client/temporal/deployment.ts';
import { GENERATE_QUEUE } from '../../domain/names/queues.ts';
import { DEFAULT_SLOTS } from '../../worker-settings.ts';

const read = (file: string) => readFileSync(join(import.meta.dirname, '../../examples', file), 'utf8');
const DEPLOYMENT = read('kubernetes/worker.yaml');
const CONTROLLED = read('kubernetes/worker-controller.yaml');
const KEDA = read('kubernetes/keda.yaml');
const IMAGE = read('../Dockerfile');
const SLURM = read('slurm/workers.sbatch');
/** What a cancelled generation has after the drain time, with room to spare: docs/operate.md. */
const AFTER_DRAIN_S = 10;

const args = /args: \[(.*)\]/
  .exec(DEPLOYMENT)![1]!
  .split(', ')
  .map((arg) => arg.replaceAll("'", ''));
const after = (flag: string) => args[args.indexOf(flag) + 1]!;
const number = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);

/** As a cluster reads them, not as text. */
const objects = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest);

describe('the examples for clusters', () => {
  test('start a worker with options that it has', () => {
    // Its text: the command itself loads a worker.
    const command = readFileSync(join(import.meta.dirname, '../../cli/commands/worker.ts'), 'utf8');
    const known = new Set([...command.matchAll(/^ {4}([a-zA-Z]+): /gm)].map(([, name]) => flagOf(name!)));
    const used = [...args, ...(/everturn worker (.*)/.exec(SLURM)?.[1] ?? '').split(' ')];
    const flags = used.filter((arg) => arg.startsWith('--'));
    expect(args[0]).toBe('worker');
    expect(flags.length).toBeGreaterThan(5);
    expect(flags.filter((flag) => !known.has(flag))).toEqual([]);
  });

  test('leave a worker its drain time', () => {
    const grace = number(DEPLOYMENT, /terminationGracePeriodSeconds: (\d+)/);
    expect(grace).toBeGreaterThanOrEqual(Number(after('--drain-seconds')) + AFTER_DRAIN_S);
    const signal = number(SLURM, /--signal=B:TERM@(\d+)/);
    expect(signal).toBeGreaterThanOrEqual(number(SLURM, /--drain-seconds (\d+)/) + AFTER_DRAIN_S);
    expect(number(KEDA, /cooldownPeriod: (\d+)/)).toBeGreaterThan(Number(after('--drain-seconds')));
  });

  test('signal the worker itself on Slurm: srun would kill it, and npx would end before it', () => {
    expect(SLURM).toMatch(/srun .*node_modules\/\.bin\/everturn worker /);
    expect(SLURM).toMatch(/scancel --signal=TERM \$\(squeue --steps .*"workers"/);
    expect(SLURM).not.toMatch(/kill -TERM/);
  });

  test('probe the port that the worker serves, at the paths that it has, and name it for its metrics', () => {
    expect(number(DEPLOYMENT, /containerPort: (\d+)/)).toBe(Number(after('--health-port')));
    expect([...DEPLOYMENT.matchAll(/path: (\S+), port: health/g)].map(([, path]) => path)).toEqual(['/ready', '/live']);
    const named = {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': after('--health-port'),
      'prometheus.io/path': '/metrics',
    };
    const pods = [...objects(DEPLOYMENT), ...objects(CONTROLLED)].flatMap(({ spec }) => spec.template ?? []);
    expect(pods.map(({ metadata }) => metadata.annotations)).toEqual([named, named]);
  });

  test('scale by the queue of the generations, a worker for as many as it takes at once', () => {
    expect(/taskQueue: (\S+)/.exec(KEDA)?.[1]).toBe(GENERATE_QUEUE);
    expect(number(KEDA, /\btargetQueueSize: '(\d+)'/)).toBe(Number(after('--slots')));
    expect(after('--slots')).toBe(String(DEFAULT_SLOTS));
    expect(/scaleTargetRef: { name: (\S+) }/.exec(KEDA)?.[1]).toBe(/name: (\S+)/.exec(DEPLOYMENT)?.[1]);
  });

  test('are YAML without a doubled or a foreign key, each object with its kind and name', () => {
    for (const text of [DEPLOYMENT, KEDA, CONTROLLED]) {
      for (const document of parseAllDocuments(text, { uniqueKeys: true, strict: true }))
        expect([document.errors, document.warnings]).toEqual([[], []]);
      for (const { apiVersion, kind, metadata } of objects(text))
        expect([apiVersion, kind, metadata.name].every((one) => typeof one === 'string')).toBe(true);
    }
    expect(() => parse('a: 1\na: 2')).toThrow(/unique/);
  });

  test('give a worker the same pod by itself and as a version, but for what the controller sets', () => {
    const pod = objects(DEPLOYMENT).find(({ kind }) => kind === 'Deployment')!.spec.template.spec;
    const controlled = objects(CONTROLLED).find(({ kind }) => kind === 'WorkerDeployment')!;
    const [own] = pod.containers;
    const [versioned] = controlled.spec.template.spec.containers;
    const set = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'];
    expect({ ...controlled.spec.template.spec, containers: [] }).toEqual({ ...pod, containers: [] });
    expect(versioned).toEqual({ ...own!, env: own!.env.filter(({ name }) => !set.includes(name)) });
    const connection = objects(CONTROLLED).find(({ kind }) => kind === 'Connection')!;
    expect(controlled.spec.workerOptions?.connectionRef.name).toBe(connection.metadata.name);
  });

  test('name a deployment as the controller does, by its namespace, and a worker takes that name', () => {
    const { metadata } = objects(CONTROLLED).find(({ kind }) => kind === 'WorkerDeployment')!;
    const name = { TEMPORAL_DEPLOYMENT_NAME: `default/${metadata.name}`, TEMPORAL_WORKER_BUILD_ID: '0.1.0-1a2b' };
    expect(deploymentOf(name)).toEqual({ deploymentName: 'default/everturn-worker', buildId: '0.1.0-1a2b' });
  });

  test('run an image that the Dockerfile makes, and so does whoever plays models in the worker itself', () => {
    const stages = [...IMAGE.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name);
    expect(stages).toEqual(expect.arrayContaining(['worker', 'worker-cpu']));
    const images = [DEPLOYMENT, CONTROLLED].map((text) => /image: \S+\/everturn:0\.1\.0-(\S+)/.exec(text)?.[1]);
    expect(images).toEqual(['worker', 'worker']);
  });

  test('run as a user that is not root, who may write only where the worker has to', () => {
    for (const text of [DEPLOYMENT, CONTROLLED]) {
      const pods = objects(text).flatMap(({ spec }) => spec.template?.spec ?? []);
      for (const { securityContext, containers, volumes } of pods) {
        expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
        for (const container of containers) {
          expect(container.securityContext).toMatchObject({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
          });
          const mounted = container.volumeMounts.map(({ name }) => name);
          expect(mounted.sort()).toEqual(volumes.map(({ name }) => name).sort());
        }
      }
    }
    expect(IMAGE).toMatch(/^USER 1000:1000$/m);
    expect(IMAGE).toMatch(/^ENV EVERTURN_HOME=\/tmp\/everturn HOME=\/tmp$/m);
  });
});

interface Named {
  readonly name: string;
}

interface Pod {
  readonly securityContext: object;
  readonly containers: readonly (Named & {
    readonly env: readonly Named[];
    readonly securityContext: object;
    readonly volumeMounts: readonly Named[];
  })[];
  readonly volumes: readonly Named[];
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Named;
  readonly spec: {
    readonly template: { readonly metadata: { readonly annotations: object }; readonly spec: Pod };
    readonly workerOptions?: { readonly connectionRef: Named };
  };
}
