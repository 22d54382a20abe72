import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { download } from '../../../local/service/binary/download.ts';
import { fakeTemporal } from './support.ts';
import { listenHttp } from '../../support/http-listener.ts';
import { testFolder } from '../../support/scratch-folder.ts';

async function host(listener: RequestListener): Promise<string> {
  const { url, close } = await listenHttp(listener);
  onTestFinished(close);
  return url;
}

function archive(): Buffer {
  const folder = testFolder();
  fakeTemporal(folder);
  execFileSync('tar', ['-czf', 'a.tar.gz', 'temporal'], { cwd: folder });
  return readFileSync(join(folder, 'a.tar.gz'));
}

describe('downloading Temporal', () => {
  test('leaves exactly the binary in the cache, of the version it asked for', async () => {
    const folder = testFolder();
    const asked: string[] = [];
    const bytes = archive();
    const url = await host((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/a.tar.gz') response.end(bytes);
      else
        response.end(
          JSON.stringify({ archiveUrl: `http://${request.headers.host}/a.tar.gz`, fileToExtract: 'temporal' }),
        );
    });
    expect(await download({ folder, env: {}, host: url })).toMatchObject({ path: join(folder, 'temporal') });
    expect(readdirSync(folder)).toEqual(['temporal']);
    expect(asked[0]).toMatch(/^\/cli\/v1\.8\.2\?arch=(amd64|arm64)&platform=\w+&format=tar\.gz$/);
  });

  const answer =
    (json: unknown): RequestListener =>
    (_, response) =>
      void response.end(JSON.stringify(json));

  test.each<[string, RequestListener, RegExp]>([
    ['the host refuses', (_, response) => void response.writeHead(503).end(), /HTTP 503/],
    ['the answer is a login page', (_, response) => void response.end('<html>'), /not valid JSON/],
    ['the answer has another form', answer({ url: 'x' }), /form that is not known/],
    [
      'the file would leave its folder',
      answer({ archiveUrl: 'https://x/y', fileToExtract: '../temporal' }),
      /form that is not known/,
    ],
    [
      'the archive is not on HTTPS',
      answer({ archiveUrl: 'http://example.com/y', fileToExtract: 'temporal' }),
      /not on HTTPS/,
    ],
    [
      'the archive is damaged',
      (request, response) =>
        request.url === '/a'
          ? void response.end('no archive')
          : answer({ archiveUrl: `http://${request.headers.host}/a`, fileToExtract: 'temporal' })(request, response),
      /tar: /,
    ],
  ])('says so and leaves nothing when %s', async (_, listener, reason) => {
    const folder = testFolder();
    const result = await download({ folder, env: {}, host: await host(listener) });
    expect(result).toEqual({ problem: expect.stringMatching(reason) });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('says why a host cannot be reached', async () => {
    const result = await download({ folder: testFolder(), env: {}, host: 'http://127.0.0.1:9' });
    expect(result).toEqual({ problem: expect.stringMatching(/ECONNREFUSED|bad port/) });
  });
});
