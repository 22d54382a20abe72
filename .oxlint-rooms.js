// Who may import whom: CONTRIBUTING.md's table as an oxlint rule. What a room's line does not name is forbidden,
// also in type positions, re-exports and `import()`. Rooms without a line (test, bench) may import everything;
// nobody may import them.

import { dirname, relative, resolve } from 'node:path';

const PLUG_POINT = { ours: ['domain/'], outside: ['node:', 'vendor'] };

/**
 * `ours`: files and folders of this repository; a room may always import itself. `types`: the same, as types only.
 * `outside`: `node:`, package names, or `vendor` for any package but Temporal's.
 */
const ROOMS = {
  'domain/': {},
  'workflows/': {
    ours: ['domain/'],
    types: ['activities/'],
    outside: ['@temporalio/workflow', '@temporalio/common'],
  },
  'activities/': {
    ours: ['domain/'],
    types: [
      'inference/backend.ts',
      'environments/environment.ts',
      'storage/store.ts',
      'storage/run-record.ts',
      'datasets/dataset.ts',
      'workflows/messages.ts',
    ],
    outside: ['@temporalio/activity', '@temporalio/common'],
  },
  'datasets/': PLUG_POINT,
  'environments/': PLUG_POINT,
  'inference/': PLUG_POINT,
  'storage/': PLUG_POINT,
  'exporters/': PLUG_POINT,
  'server/': { ours: ['domain/'], outside: ['node:', '@temporalio/client', '@temporalio/common'] },
  'permissions/': { ours: ['domain/', 'inference/', 'server/home.ts'], outside: ['node:'] },
  'version.ts': { outside: ['node:'] },
  'options.ts': { ours: ['domain/', 'inference/index.ts'], outside: ['zod'] },
  'config.ts': {
    ours: ['domain/', 'options.ts'],
    types: ['storage/run-record.ts'],
    outside: ['node:', 'yaml'],
  },
  'create-run.ts': {
    ours: ['domain/', 'datasets/', 'storage/', 'version.ts'],
    outside: ['node:'],
  },
  'backends.ts': { ours: ['domain/', 'inference/', 'storage/'], outside: ['node:'] },
  'connection.ts': {
    ours: ['domain/', 'server/local-connection.ts'],
    outside: ['node:', '@temporalio/client', '@temporalio/envconfig'],
  },
  'client.ts': {
    ours: ['domain/', 'connection.ts', 'workflows/messages.ts'],
    outside: ['@temporalio/client', '@temporalio/common'],
  },
  'pending-work.ts': {
    ours: ['domain/', 'connection.ts'],
    outside: ['@temporalio/client', '@temporalio/common'],
  },
  'histories.ts': {
    ours: ['domain/', 'connection.ts'],
    types: ['workflows/messages.ts'],
    outside: ['@temporalio/client', '@temporalio/common'],
  },
  'cli/': {
    ours: [
      'domain/',
      'client.ts',
      'histories.ts',
      'pending-work.ts',
      'connection.ts',
      'config.ts',
      'options.ts',
      'create-run.ts',
      'version.ts',
      'worker.ts',
      'datasets/',
      'environments/',
      'inference/',
      'storage/',
      'exporters/',
      'permissions/',
      'server/',
    ],
    types: ['workflows/messages.ts'],
    outside: ['node:', 'vendor'],
  },
  'worker.ts': {
    ours: [
      'domain/',
      'backends.ts',
      'client.ts',
      'connection.ts',
      'config.ts',
      'options.ts',
      'create-run.ts',
      'version.ts',
      'workflows/',
      'activities/',
      'datasets/',
      'environments/',
      'inference/',
      'storage/',
      'exporters/',
      'permissions/',
      'server/',
    ],
    outside: ['node:', 'vendor', '@temporalio/'],
  },
};

/** The complaint about one import, or null. `file` and what it imports are relative to the root, with `/`. */
function breach(file, specifier, typeOnly) {
  const room = Object.keys(ROOMS).find((name) => covers(name, file));
  if (room === undefined) return null;
  const { ours = [], types = [], outside = [] } = ROOMS[room];
  if (specifier.startsWith('.')) {
    const target = relative('/', resolve('/', dirname(file), specifier)).replaceAll('\\', '/');
    if ([room, ...ours].some((name) => covers(name, target))) return null;
    if (types.some((name) => covers(name, target))) {
      return typeOnly ? null : `${room} may import ${target} as types only`;
    }
    return `${room} may not import ${target}`;
  }
  const vendor = !specifier.startsWith('node:') && !specifier.startsWith('@temporalio/');
  const allowed = outside.some((name) => (name === 'vendor' ? vendor : covers(name, specifier)));
  return allowed ? null : `${room} may not import ${specifier}`;
}

/** `a/` and `a:` cover what they begin, `a.ts` and `package` themselves, a package also its subpaths. */
function covers(name, path) {
  return path === name || path.startsWith(/[/:]$/.test(name) ? name : `${name}/`);
}

const rooms = {
  meta: { type: 'problem' },
  create(context) {
    const file = relative(context.cwd, context.filename).replaceAll('\\', '/');
    const check = (node, source, typeOnly) => {
      if (typeof source?.value !== 'string') return;
      const message = breach(file, source.value, typeOnly);
      if (message !== null)
        context.report({ node, message: `${message} (see CONTRIBUTING.md, "Who may import whom")` });
    };
    const inlineTypes = (specifiers, kind) => specifiers.length > 0 && specifiers.every((s) => s[kind] === 'type');
    return {
      ImportDeclaration: (n) => check(n, n.source, n.importKind === 'type' || inlineTypes(n.specifiers, 'importKind')),
      ExportNamedDeclaration: (n) =>
        check(n, n.source, n.exportKind === 'type' || inlineTypes(n.specifiers, 'exportKind')),
      ExportAllDeclaration: (n) => check(n, n.source, n.exportKind === 'type'),
      ImportExpression: (n) => check(n, n.source, false),
      TSImportType: (n) => check(n, n.source ?? n.argument?.literal ?? n.argument, true),
    };
  },
};

// oxlint asks a plugin for its default export.
export default { meta: { name: 'house' }, rules: { rooms } };
