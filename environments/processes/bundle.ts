// Bundles a module with all that it imports into one file, when its run is made: the code travels with the run. By the
// webpack and swc that Temporal's worker brings, which bundle our workflows too. The same sources give the same bytes.
// Leaves out native add-ons, and top-level await: the bundle is CommonJS.

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';

/** The code of a module, to be stored in its run's folder. */
export interface ModuleCode {
  readonly code: string;
  readonly sha256: string;
}

/** `<run>/code/<sha256>.cjs` */
export const bundledCodeFile = (sha256: string): string => `code/${sha256}.cjs`;

interface Stats {
  readonly compilation: { readonly errors: readonly { readonly message: string }[] };
}
interface Compiler {
  run(done: (error: Error | null, stats?: Stats) => void): void;
  close(done: () => void): void;
}
type Webpack = (options: object) => Compiler;

const FILE = 'module.cjs';

/** Calls `use` with a file that is its own bundle. */
export async function asItIs<T>(path: string, use: (file: string, bundle: ModuleCode) => Promise<T>): Promise<T> {
  const bytes = await readFile(path);
  if (!isUtf8(bytes)) {
    throw new EnvironmentError(`${basename(path)} is not text in UTF-8.`, {
      reason: 'environment-unloadable',
      fix: 'Save it in UTF-8.',
    });
  }
  const code = bytes.toString();
  return use(path, { code, sha256: createHash('sha256').update(code).digest('hex') });
}

/** Calls `use` with the bundle's file, which is gone afterwards. */
export async function withBundle<T>(path: string, use: (file: string, bundle: ModuleCode) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'everturn-bundle-'));
  try {
    await compile(path, folder);
    const file = join(folder, FILE);
    const code = await readFile(file, 'utf8');
    return await use(file, { code, sha256: createHash('sha256').update(code).digest('hex') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function compile(path: string, folder: string): Promise<void> {
  const ours = createRequire(import.meta.url);
  const theirs = createRequire(ours.resolve('@temporalio/worker'));
  const webpack = theirs('webpack') as Webpack;
  const parser = { syntax: 'typescript', decorators: true };
  const loader = theirs.resolve('swc-loader');
  const options = { swcrc: false, configFile: false, sourceMaps: true, jsc: { parser, target: 'es2022' } };
  const compiler = webpack({
    mode: 'none',
    target: 'node20',
    context: dirname(path),
    entry: path,
    // The map of lines, by which errors name the user's own files.
    devtool: 'inline-nosources-source-map',
    output: {
      path: folder,
      filename: FILE,
      library: { type: 'commonjs2' },
      pathinfo: false,
      devtoolModuleFilenameTemplate: ({ resourcePath }: { readonly resourcePath: string }) => basename(resourcePath),
    },
    // Numbers in the order of use: no path of this machine stands in the bundle.
    optimization: { moduleIds: 'natural', usedExports: true, providedExports: true, sideEffects: true },
    resolve: {
      extensions: ['.ts', '.mts', '.js', '.mjs', '.cjs', '.json'],
      extensionAlias: { '.js': ['.ts', '.js'], '.mjs': ['.mts', '.mjs'] },
    },
    module: { rules: [{ test: /\.[cm]?ts$/, use: { loader, options } }] },
  });
  return new Promise((resolve, reject) => {
    compiler.run((error, stats) => {
      compiler.close(() => undefined);
      const message = error?.message ?? stats?.compilation.errors[0]?.message;
      if (message === undefined) return resolve();
      // The fault and its place come first, the bundler's own stack behind them.
      const [said = ''] = message.split(/\n\s*(?:Caused by:|Stack backtrace:|at )/);
      reject(
        new EnvironmentError(`The module ${path} cannot be bundled: ${short(said, 500)}`, {
          reason: 'environment-unloadable',
          fix: 'It is one TypeScript or JavaScript file, with what it imports beside it or in node_modules.',
        }),
      );
    });
  });
}
