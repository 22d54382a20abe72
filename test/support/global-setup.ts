// Once per test run: finds or builds the Temporal server, starts one on free ports in a temporary
// folder, and bundles the workflows from source. Tests get both by `inject`.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { TestProject } from 'vitest/node';
import { startDevServer } from '../../local/service/dev-server.ts';
import { stopService } from '../../local/service/service.ts';
import { findTemporal } from '../../local/service/binary/find.ts';
import { freePort } from '../../local/machine/ports.ts';
import { printProgress } from '../../local/machine/progress.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port` of a real server, shared by all test files. */
    temporalAddress: string;
    temporalBinary: string;
    /** Path of the workflows' bundle, built from source. */
    workflowBundle: string;
    /** The home of a local service that test files share: the first command that needs it starts it. */
    sharedHome: string;
  }
}

interface Shared {
  readonly address: string;
  readonly binary: string;
  readonly bundle: string;
  readonly home: string;
  close(): Promise<void>;
}

/** One for all projects of a test run, each of which loads this file anew. */
const shared = globalThis as { everturnTests?: { users: number; readonly parts: Promise<Shared> } };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const everturnTests = (shared.everturnTests ??= {
    users: 0,
    parts: open(project.config.env['TMPDIR'] ?? tmpdir()),
  });
  everturnTests.users++;
  const { address, binary, bundle, home, close } = await everturnTests.parts;
  project.provide('temporalAddress', address);
  project.provide('temporalBinary', binary);
  project.provide('workflowBundle', bundle);
  project.provide('sharedHome', home);
  return async () => {
    if (--everturnTests.users === 0) await close();
  };
}

async function open(scratch: string): Promise<Shared> {
  const folder = mkdtempSync(join(scratch, 'everturn-test-'));
  const onProgress = printProgress(process.stderr);
  const { path: binary } = await findTemporal({ env: process.env, onProgress });
  const port = await freePort([]);
  const server = await startDevServer({
    binary,
    database: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
    port,
    uiPort: await freePort([], [port]),
  });
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(import.meta.dirname, '../../workflows/index.ts'),
    payloadConverterPath: join(import.meta.dirname, '../../workflows/payloads.ts'),
    logger: new DefaultLogger('WARN'),
  });
  const bundle = join(folder, 'workflow-bundle.js');
  writeFileSync(bundle, code);
  const home = join(folder, 'home');
  return {
    address: server.address,
    binary,
    bundle,
    home,
    async close() {
      await Promise.all([server.stop(), stopService({ EVERTURN_HOME: home })]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
