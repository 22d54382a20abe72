// Compiles to dist/, and bundles the workflows once, so that a worker starts without webpack, and the viewer's page. What is built already is left
// as it is (npm builds again before the first `npx`, and a service that runs from dist/ would have to restart); --force.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const at = (path) => new URL(path, import.meta.url);
const stamp = at('./dist/.built-from');
const built = ['worker.js', 'workflow-bundle.js', 'cli/index.js', 'viewer/page/page.js', 'viewer/page/page.css'].every(
  (file) => existsSync(at(`./dist/${file}`)),
);
const sources = hashOfSources();
if (built && existsSync(stamp) && readFileSync(stamp, 'utf8') === sources && !process.argv.includes('--force')) {
  process.exit(0);
}

const require = createRequire(import.meta.url);
rmSync(at('./dist'), { recursive: true, force: true });
const tsc = require.resolve('typescript/package.json').replace(/package\.json$/, 'bin/tsc');
try {
  for (const config of ['tsconfig.build.json', 'tsconfig.types.json'])
    execFileSync(process.execPath, [tsc, '-p', config], { stdio: 'inherit' });
} catch {
  // tsc has said what is wrong.
  process.exit(1);
}

const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(at('./dist/workflows/index.js')),
  payloadConverterPath: fileURLToPath(at('./dist/workflows/payloads.js')),
  logger: new DefaultLogger('WARN'),
});
writeFileSync(at('./dist/workflow-bundle.js'), code);
chmodSync(at('./dist/cli/index.js'), 0o755);
await bundlePage();
writeFileSync(stamp, sources);

/** The viewer's page: one script and one style sheet, for the server and for reports. */
async function bundlePage() {
  const { build } = await import('rolldown');
  await build({
    input: fileURLToPath(at('./viewer/page/main.tsx')),
    transform: { target: 'es2022' },
    output: { file: fileURLToPath(at('./dist/viewer/page/page.js')), format: 'esm', minify: true },
    logLevel: 'warn',
  });
  const style = readFileSync(at('./viewer/page/page.css'), 'utf8');
  writeFileSync(at('./dist/viewer/page/page.css'), style.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\s+/g, ' '));
}

/** The hash of everything that dist/ is made from; the lock file stands for what is installed. */
function hashOfSources() {
  const hash = createHash('sha256').update(process.version);
  const others = /^(?:node_modules|dist|test|docs|runs|models|examples|python|\..*)$/;
  const ownFolder = /^\.\/(?:packages\/[^/]+\/)?$/;
  const add = (folder) => {
    for (const entry of readdirSync(at(folder), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = `${folder}${entry.name}`;
      if (entry.isDirectory()) {
        if (!ownFolder.test(folder) || !others.test(entry.name)) add(`${path}/`);
      } else if (/\.(?:tsx?|mjs|json|css)$/.test(entry.name)) hash.update(`\n${path}\n`).update(readFileSync(at(path)));
    }
  };
  add('./');
  return hash.digest('hex');
}
