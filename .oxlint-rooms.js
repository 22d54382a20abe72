// Who may import whom: CONTRIBUTING.md's table as an oxlint rule. What a room's line does not name is forbidden,
// also in type positions, re-exports and `import()`. Rooms without a line (test, bench) may import everything;
// nobody may import them.

import { dirname, relative, resolve } from 'node:path';

const PLUG_POINT = { ours: ['domain/', 'machine/'], outside: ['node:', 'vendor'] };
const EVERY_ROOM = [
  'domain/',
  'machine/',
  'datasets/',
  'environments/',
  'inference/',
  'storage/',
  'exporters/',
  'tools/',
  'temporal/',
  'feed/',
  'run/',
  'proof/',
  'statistics/',
  'service/',
  'permissions/',
  'viewer/',
  'metrics/',
];

/**
 * `ours`: files and folders of this repository; a room may always import itself. `types`: the same, as types only.
 * `outside`: `node:`, package names, or `vendor` for any package but Temporal's.
 */
const ROOMS = {
  'domain/': {},
  'metrics/': {
    ours: ['domain/', 'machine/', 'inference/http/safe-url.ts'],
    types: ['storage/store.ts'],
    outside: ['@temporalio/worker'],
  },
  'statistics/': { ours: ['domain/'] },
  'tools/formats/': { ours: ['domain/'] },
  'machine/': { ours: ['domain/'], outside: ['node:', 'undici'] },
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
      'tools/tool.ts',
      'storage/store.ts',
      'storage/record/run-record.ts',
    ],
    outside: ['@temporalio/activity', '@temporalio/common'],
  },
  'datasets/': PLUG_POINT,
  'environments/': PLUG_POINT,
  'inference/': PLUG_POINT,
  'storage/': PLUG_POINT,
  'exporters/': PLUG_POINT,
  // Its processes are those of environments, and its programs run in the judge's sandbox.
  'tools/': { ...PLUG_POINT, ours: [...PLUG_POINT.ours, 'environments/own/', 'environments/code/'] },
  'temporal/': { ours: ['domain/'], outside: ['node:', '@temporalio/'] },
  'feed/': {
    ours: ['domain/', 'machine/', 'storage/', 'temporal/', 'service/home.ts', 'service/idle.ts'],
    outside: ['node:'],
  },
  'run/': {
    ours: ['domain/', 'machine/', 'datasets/', 'inference/', 'storage/'],
    outside: ['node:', 'vendor'],
  },
  'proof/': { ours: ['domain/', 'storage/'], outside: ['node:'] },
  'service/': { ours: ['domain/', 'machine/', 'temporal/'], outside: ['node:'] },
  'permissions/': { ours: ['domain/', 'service/home.ts', 'inference/'], outside: ['node:'] },
  // The browser's code, and what it shares with the server, come before the room around them.
  'viewer/model/': { ours: ['domain/', 'statistics/'] },
  'viewer/page/': { ours: ['domain/', 'statistics/', 'viewer/model/'], outside: ['preact'] },
  'viewer/': { ours: ['domain/', 'statistics/', 'storage/'], outside: ['node:'] },
  'cli/': { ours: [...EVERY_ROOM, 'worker.ts', 'worker-settings.ts'], outside: ['node:', 'vendor'] },
  'worker-settings.ts': { ours: [...EVERY_ROOM] },
  'worker.ts': { ours: [...EVERY_ROOM, 'activities/', 'worker-settings.ts'], outside: ['node:'] },
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
