// The SDK's runtime in a process of tests, which says errors alone. A process has one, and the files of a worker share it.

import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

let isInstalled = false;

export function quietRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  const telemetryOptions = { logging: { filter } };
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [], telemetryOptions });
}
