// Small is defended: few direct dependencies, each with its reason.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, sources } from './tree.ts';

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function manifest(folder = '.'): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
}

describe('the dependencies', () => {
  test('Everturn installs at most 23 direct dependencies', () => {
    expect(Object.keys(manifest().dependencies).length).toBeLessThanOrEqual(23);
  });

  test('a package of this repository has the root’s version, and no dependency', () => {
    const own = readdirSync(join(ROOT, 'packages')).map((name) => manifest(`packages/${name}`));
    expect(own.length).toBeGreaterThan(0);
    for (const one of own) {
      expect(one).toMatchObject({ version: manifest().version });
      expect(Object.keys(one).filter((field) => /dependencies$/i.test(field))).toEqual([]);
    }
  });

  test('every direct dependency has its reason in CONTRIBUTING', () => {
    const { dependencies, devDependencies } = manifest();
    const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    const named = [...text.matchAll(/^- ((?:`@?[\w./-]+`(?:, )?)+): \S/gm)].flatMap(([, names]) =>
      [...names!.matchAll(/`([^`]+)`/g)].map((m) => m[1]!),
    );
    const missing = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !named.includes(name));
    expect(missing).toEqual([]);
  });

  test('only the process of an embedded model loads transformers.js, and with it an ONNX runtime', () => {
    const loads = sources().filter((file) =>
      /import\((?:'|")@huggingface\/transformers|from '(?:@huggingface\/transformers|onnxruntime)/.test(
        readFileSync(join(ROOT, file), 'utf8'),
      ),
    );
    expect(loads.filter((file) => !file.startsWith('test/'))).toEqual(['inference/embedded/load.ts']);
  });

  test('Temporal’s packages are all of one exact version', () => {
    const { dependencies, devDependencies } = manifest();
    const versions = Object.entries({ ...dependencies, ...devDependencies })
      .filter(([name]) => name.startsWith('@temporalio/'))
      .map(([, version]) => version);
    expect(new Set(versions).size).toBe(1);
    expect(versions[0]).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test('the lock file names no registry but npm’s own', () => {
    const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
    const hosts = new Set([...lock.matchAll(/"resolved": "(\w+:\/\/[^/"]+)/g)].map((m) => m[1]));
    hosts.delete('https://registry.npmjs.org');
    expect([...hosts]).toEqual([]);
  });

  test('the lock file knows every optional package, so npm ci works on every platform', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !places(path, name).some((place) => place in packages)),
    );
    expect(missing).toEqual([]);
  });
});

/** Where Node looks for `name` from the package at `path`, nearest first. */
function places(path: string, name: string): string[] {
  const parts = path === '' ? [] : path.split(/(?:^|\/)node_modules\//).slice(1);
  return parts
    .map((_, i) => parts.slice(0, parts.length - i))
    .concat([[]])
    .map((above) => [...above, name].map((part) => `node_modules/${part}`).join('/'));
}
