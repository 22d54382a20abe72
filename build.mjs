// Compiles to dist/ and bundles the workflows once, so that a worker starts without webpack.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync, chmodSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
rmSync(new URL('./dist', import.meta.url), { recursive: true, force: true });
const tsc = require.resolve('typescript/package.json').replace(/package\.json$/, 'bin/tsc');
try {
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
} catch {
  // tsc has said what is wrong.
  process.exit(1);
}

const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('./dist/workflows/index.js', import.meta.url)),
  logger: new DefaultLogger('WARN'),
});
writeFileSync(new URL('./dist/workflow-bundle.js', import.meta.url), code);
chmodSync(new URL('./dist/cli/index.js', import.meta.url), 0o755);
