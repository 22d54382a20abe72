// What each room may import: CONTRIBUTING.md's table as an oxlint rule. What a room's line does not name is forbidden,
// also in type positions, re-exports and `import()`. Rooms without a line (test) and tests of packages may import everything;
// nobody may import them. Of a package, and of a room with a door, others import its index.ts alone.

import { dirname, relative, resolve } from 'node:path';

/** The doors of packages, which import nothing of ours but what stands in them. */
const PACKAGES = ['packages/judge/index.ts', 'packages/sandbox/index.ts'];
const DOORS = [...PACKAGES.map(dirname), 'domain/agent', 'endpoint', 'viewer'];
const PACKAGE_TESTS = /^packages\/[^/]+\/test\//;

const PLUG_POINT = { ours: ['domain/', 'local/machine/'], outside: ['node:', 'vendor'] };
const EVERY_ROOM = [
  'domain/',
  'endpoint/',
  'inference/',
  'environments/',
  'records/',
  'formats/',
  'run/',
  'client/',
  'local/',
  'viewer/',
  ...PACKAGES,
];

/** Those that a program's door needs: all that make or read a run. */
const LIBRARY_ROOMS = EVERY_ROOM.filter((room) => room !== 'endpoint/');

/** The sub-rooms of `domain/`: each may import those before it. */
const DOMAIN = [
  ...['text', 'errors', 'schema', 'names', 'query', 'tools', 'agent', 'rollout', 'context', 'run'],
  ...['samples', 'feed', 'weights', 'statistics'],
].map((name) => `domain/${name}/`);

/**
 * `ours`: files and folders of this repository; a room may always import itself. `types`: the same, as types only.
 * `outside`: `node:`, package names, or `vendor` for any package but Temporal's.
 */
const ROOMS = {
  'packages/judge/': { outside: ['node:'] },
  'packages/sandbox/': { outside: ['node:'] },
  'domain/': {},
  ...Object.fromEntries(DOMAIN.map((name, place) => [name, { ours: DOMAIN.slice(0, place) }])),
  'local/metrics/': {
    ours: ['domain/', 'local/machine/', 'inference/http/safe-url.ts'],
    types: ['records/store.ts'],
    outside: ['@temporalio/worker', '@temporalio/common'],
  },
  'environments/tools/formats/': { ours: ['domain/'] },
  'local/machine/': { ours: ['domain/'], outside: ['node:', 'undici'] },
  'workflows/': {
    ours: ['domain/'],
    types: ['activities/'],
    outside: ['@temporalio/workflow', '@temporalio/common'],
  },
  'activities/': {
    ours: ['domain/'],
    types: [
      'endpoint/index.ts',
      'inference/backend.ts',
      'environments/environment.ts',
      'environments/tools/tool.ts',
      'records/store.ts',
      'records/format/run-record.ts',
    ],
    outside: ['@temporalio/activity', '@temporalio/common'],
  },
  'endpoint/': { ours: ['domain/', 'local/machine/', 'environments/processes/'], outside: ['node:', 'vendor'] },
  'formats/': { ...PLUG_POINT, ours: [...PLUG_POINT.ours, ...PACKAGES] },
  'environments/': { ...PLUG_POINT, ours: [...PLUG_POINT.ours, ...PACKAGES] },
  'inference/': PLUG_POINT,
  'records/': PLUG_POINT,
  // A user's environments and tools are processes of one kind, and a tool's programs run in the judge's sandbox.
  'environments/processes/': PLUG_POINT,
  'environments/tools/': {
    ...PLUG_POINT,
    ours: [...PLUG_POINT.ours, ...PACKAGES, 'environments/processes/', 'environments/own/', 'environments/code/'],
  },
  // A model that judges is asked as a model that plays is.
  'environments/own/rubric/': {
    ...PLUG_POINT,
    ours: [...PLUG_POINT.ours, ...PACKAGES, 'environments/', 'inference/http/', 'inference/servers/openai.ts'],
  },
  'client/temporal/': { ours: ['domain/'], outside: ['node:', '@temporalio/'] },
  'client/feed/': {
    ours: [
      'domain/',
      'local/machine/',
      'records/',
      'client/temporal/',
      'local/service/home.ts',
      'local/service/idle.ts',
    ],
    outside: ['node:'],
  },
  'run/': {
    ours: [
      ...['domain/', 'local/machine/', 'local/service/', 'local/permissions/'],
      ...['formats/datasets/', 'formats/hub/', 'formats/benchmarks/', 'inference/'],
      ...['environments/', 'records/', 'client/temporal/'],
      ...PACKAGES,
    ],
    outside: ['node:', 'vendor'],
  },
  'records/check/': { ours: ['domain/', 'records/'], outside: ['node:'] },
  'local/service/': { ours: ['domain/', 'local/machine/', 'client/temporal/'], outside: ['node:'] },
  'local/permissions/': { ours: ['domain/', 'local/service/home.ts', 'inference/'], outside: ['node:'] },
  // The browser's code, and what it shares with the server, come before the room around them.
  'viewer/model/': { ours: ['domain/'] },
  'viewer/page/': { ours: ['domain/', 'viewer/model/'], outside: ['preact', 'markdown-it', 'temml'] },
  'viewer/': {
    ours: ['domain/', 'records/', 'run/place.ts', 'local/machine/own-user.ts'],
    outside: ['node:'],
  },
  'library/': { ours: [...LIBRARY_ROOMS, 'program-worker.ts'], outside: ['node:'] },
  'cli/': { ours: [...EVERY_ROOM, 'library/', 'worker.ts', 'worker-settings.ts'], outside: ['node:', 'vendor'] },
  'worker-settings.ts': { ours: [...EVERY_ROOM] },
  'program-worker.ts': { ours: [...EVERY_ROOM, 'activities/'], outside: ['node:'] },
  'worker.ts': { ours: [...EVERY_ROOM, 'activities/', 'worker-settings.ts'], outside: ['node:'] },
};

/** The complaint about one import, or null. `file` and what it imports are relative to the root, with `/`. */
function breach(file, specifier, typeOnly) {
  if (PACKAGE_TESTS.test(file)) return null;
  const around = Object.keys(ROOMS).filter((name) => covers(name, file));
  const room = around.sort((one, other) => other.length - one.length)[0];
  if (room === undefined) return null;
  const { ours = [], types = [], outside = [] } = ROOMS[room];
  if (specifier.startsWith('.')) {
    const target = relative('/', resolve('/', dirname(file), specifier)).replaceAll('\\', '/');
    const behind = DOORS.find((door) => covers(door, target) && !covers(door, file));
    if (behind !== undefined && target !== `${behind}/index.ts`) return `${room} may import ${behind}/index.ts alone`;
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
      if (message !== null) context.report({ node, message: `${message} (see CONTRIBUTING.md, "Rooms")` });
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
