// The workflows' bundle as it would be if their sources were other than they are: for what an older or a newer release
// does, or a broken one. Webpack runs once per process; each altered file is compiled by the bundler's own compiler and
// takes its module's place in that bundle's text. An alteration that finds no text, or code that does not parse, is an error.

import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, posix } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const ROOT = join(import.meta.dirname, '../..');

export interface Alteration {
  /** Relative to the repository. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly from: string;
  readonly to: string;
}

export interface BundleOptions {
  /** The repository, for code that was compiled to somewhere else. */
  readonly root?: string;
  /** The plain bundle's code, where it was made already. */
  readonly plain?: string;
  /** What holds no state of a workflow is loaded once for all of them: a new one takes half the time. */
  readonly sharesDomain?: boolean;
}

interface Compiler {
  transformSync(source: string, options: object): { readonly code: string };
}

/** Types of packages know nothing of it: it is a dependency of the worker's bundler, not of ours. */
const compiler = createRequire(createRequire(import.meta.url).resolve('@temporalio/worker'))('@swc/core') as Compiler;
const plainBundles = new Map<string, Promise<string>>();

/** The bundle's code. */
export async function alteredBundle(
  alterations: readonly Alteration[],
  { root = ROOT, plain, sharesDomain = false }: BundleOptions = {},
): Promise<string> {
  const sources = new Map<string, string>();
  for (const { file: given, from, to } of alterations) {
    const file = posix.normalize(given);
    const parts = (sources.get(file) ?? readFileSync(join(root, file), 'utf8')).split(from);
    if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times, not once: ${from}`);
    sources.set(file, parts.join(to));
  }
  let code = plain ?? (await plainBundle(root, sharesDomain));
  for (const [file, source] of sources) code = withModule(code, file, source);
  return code;
}

function plainBundle(root: string, sharesDomain: boolean): Promise<string> {
  const key = `${root} ${sharesDomain}`;
  const bundle = plainBundles.get(key) ?? bundled(root, sharesDomain);
  plainBundles.set(key, bundle);
  return bundle;
}

async function bundled(root: string, sharesDomain: boolean): Promise<string> {
  const domain = sharesDomain ? filesBelow(join(root, 'domain')) : [];
  const preloadModules = sharesDomain ? ['@temporalio/workflow', '@temporalio/common', ...domain] : [];
  const workflowsPath = join(root, 'workflows/index.ts');
  const payloadConverterPath = join(root, 'workflows/payloads.ts');
  const logger = new DefaultLogger('WARN');
  return (await bundleWorkflowCode({ workflowsPath, payloadConverterPath, preloadModules, logger })).code;
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));

/** A line of webpack's ends every module. */
const END = '\n/***/ }';

function withModule(bundle: string, file: string, source: string): string {
  const { code } = compiler.transformSync(source, {
    filename: file,
    jsc: { target: 'es2017', parser: { syntax: 'typescript', decorators: true } },
    module: { type: 'commonjs' },
  });
  const body = code.replaceAll(/\brequire\("([^"]+)"\)/g, (_, request: string) => {
    const id = request.startsWith('.') ? `./${posix.join(posix.dirname(file), request)}` : idOf(bundle, request);
    if (!bundle.includes(`\n/***/ "${id}"\n`))
      throw new Error(`${file} imports ${request}, which is not in the bundle`);
    return `__webpack_require__(${JSON.stringify(id)})`;
  });
  const head = `\n/***/ "./${file}"\n`;
  const start = bundle.indexOf(head) + head.length;
  if (start < head.length) throw new Error(`${file} is not in the bundle`);
  const factory = `(module, exports, __webpack_require__) {\n${body}\n`;
  return bundle.slice(0, start) + factory + bundle.slice(bundle.indexOf(END, start));
}

/** Of a package, as another module of the bundle asked for it. */
function idOf(bundle: string, request: string): string {
  const asked = bundle.indexOf(`__webpack_require__(/*! ${request} */ "`);
  return asked < 0 ? request : bundle.slice(bundle.indexOf('"', asked) + 1).split('"', 1)[0]!;
}
