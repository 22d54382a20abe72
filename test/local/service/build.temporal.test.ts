import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildTemporal } from '../../../local/service/binary/build.ts';
import type { ServerProgress } from '../../../local/machine/progress.ts';
import { program } from './support.ts';
import { testFolder } from '../../support/scratch-folder.ts';

/** A `go` that lists three packages and builds a program that answers as the CLI does. */
const GO = `
case "$1" in
  env) echo "\${FAKE_GO_VERSION:-go1.26.8}";;
  list) cat go.mod go.sum >/dev/null && printf 'a/b\\nc\\nd\\n'; echo 'go: downloading example.com/x v1.0.0' >&2;;
  build)
    echo "$@" > "$FAKE_GO_CALLS"
    printf 'a/b\\nc\\nd\\n' >&2
    [ -n "$FAKE_GO_FAILS" ] && { echo "main.go:1: $FAKE_GO_FAILS" >&2; exit 1; }
    out=; while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
    printf '#!/bin/sh\\necho "temporal version 1.8.2 (Server 1.31.2)"\\n' > "$out" && chmod +x "$out";;
esac`;

function machine(extra: Record<string, string> = {}) {
  const root = testFolder();
  const folder = join(root, 'cache');
  const bin = join(root, 'bin');
  mkdirSync(bin);
  const calls = join(root, 'calls');
  const env = { PATH: `${bin}:/usr/bin:/bin`, FAKE_GO_CALLS: calls, ...extra };
  return { folder, bin, env, calls: () => readFileSync(calls, 'utf8') };
}

describe('building Temporal', () => {
  test('leaves exactly the binary in the cache, built pinned and stamped', async () => {
    const { folder, bin, env, calls } = machine();
    program(bin, 'go', GO);
    expect(await buildTemporal({ folder, env })).toEqual({
      path: join(folder, 'temporal'),
      version: '1.8.2 (Server 1.31.2)',
    });
    expect(readdirSync(folder)).toEqual(['temporal']);
    expect(calls()).toMatch(
      /-trimpath -ldflags -s -w -X \S+\.Version=1\.8\.2 .* github\.com\/temporalio\/cli\/cmd\/temporal/,
    );
  });

  test('reports its progress', async () => {
    const { folder, bin, env } = machine();
    program(bin, 'go', GO);
    const told: ServerProgress[] = [];
    await buildTemporal({ folder, env, onProgress: (progress) => told.push(progress) });
    expect(told[0]).toMatchObject({ kind: 'step' });
    expect(told).toContainEqual(expect.objectContaining({ kind: 'build', phase: 'modules' }));
    expect(told).toContainEqual(expect.objectContaining({ kind: 'build', phase: 'linking', done: 3, total: 3 }));
  });

  test.each([
    ['Go is missing', {}, undefined, /Go is not installed/],
    [
      'Go is too old to fetch a newer one',
      { FAKE_GO_VERSION: 'go1.19.8' },
      GO,
      /go1\.19\.8 is too old: 1\.26\.4 is needed/,
    ],
    [
      'the compiler fails',
      { FAKE_GO_FAILS: 'no space left on device' },
      GO,
      /go build .*exit code 1: main\.go:1: no space left on device/,
    ],
    [
      'what was built does not run',
      {},
      GO.replace('echo "temporal', 'exit 3 #'),
      /--version did not answer as a Temporal CLI/,
    ],
  ])('says so and leaves nothing when %s', async (_, extra, go, reason) => {
    const { folder, bin, env } = machine(extra);
    if (go) program(bin, 'go', go);
    else env.PATH = bin;
    expect(await buildTemporal({ folder, env })).toEqual({ problem: expect.stringMatching(reason) });
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  });

  test('sweeps what a killed build left', async () => {
    const { folder, bin, env } = machine();
    mkdirSync(join(folder, 'build-killed', 'tmp'), { recursive: true });
    program(bin, 'go', GO);
    await buildTemporal({ folder, env });
    expect(readdirSync(folder)).toEqual(['temporal']);
  });
});
