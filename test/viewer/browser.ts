// A real browser for tests of the viewer's pages, where one is installed (Debian: chromium-headless-shell). Every
// request that leaves the server under test, and every error on the page, is collected.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Bundle } from '../../viewer/assets.ts';
import type { ViewServer } from '../../viewer/server.ts';
import type { TokenDecoder } from '../../viewer/token-message.ts';
import { type SteeredView, type ViewRig, viewRig } from './rig.ts';

const NAMED = process.env['EVERTURN_TEST_CHROMIUM'];
const INSTALLED = NAMED ? [NAMED] : ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const CHROMIUM = INSTALLED.find((path) => existsSync(path));
/** Undefined where one is. */
export const NO_BROWSER =
  CHROMIUM === undefined
    ? 'no Chromium is installed (apt-get install chromium-headless-shell, or EVERTURN_TEST_CHROMIUM)'
    : undefined;

const PAGE = join(import.meta.dirname, '../../dist/viewer/page');
/** As the build made it. */
export const builtPage = (): Bundle => ({
  script: readFileSync(join(PAGE, 'page.js'), 'utf8'),
  style: readFileSync(join(PAGE, 'page.css'), 'utf8'),
});

export function launch(): Promise<Browser> {
  const quiet = ['quic', 'background-networking', 'component-update', 'sync'].map((name) => `--disable-${name}`);
  return chromium.launch({
    executablePath: CHROMIUM!,
    // Tests may run as root, where Chromium's own sandbox cannot.
    chromiumSandbox: false,
    args: ['--disable-gpu', '--no-first-run', ...quiet],
  });
}

export interface Seen {
  readonly page: Page;
  /** Console errors and uncaught ones. */
  readonly errors: string[];
  /** Addresses of requests to other hosts. */
  readonly left: string[];
  close(): Promise<void>;
}

export interface Viewer {
  readonly rig: ViewRig;
  readonly server: ViewServer;
  readonly browser: Browser;
  /** An address below the server's. */
  visit(hash: string, options?: BrowserContextOptions): Promise<Seen>;
  /** Nothing failed on the page, and nothing left it. */
  leave(seen: Seen): Promise<void>;
}

/** The built pages over a folder of runs, for the tests of a file: `prepare` fills the folder before the first of them. */
export function useViewer(
  prepare: (rig: ViewRig) => Promise<unknown> = async () => {},
  { decoder, steering }: { decoder?: TokenDecoder; steering?: (rig: ViewRig) => SteeredView } = {},
): Viewer {
  const viewer = {
    visit: (hash, options) => openPage(viewer.browser, `${viewer.server.url}${hash}`, options),
    async leave(seen) {
      expect([seen.errors, seen.left]).toEqual([[], []]);
      await seen.close();
    },
  } as { -readonly [part in keyof Viewer]: Viewer[part] };
  beforeAll(async () => {
    viewer.rig = await viewRig(decoder);
    await prepare(viewer.rig);
    viewer.server = await viewer.rig.serve(steering ? 't' : null, builtPage(), steering?.(viewer.rig));
    viewer.browser = await launch();
  });
  afterAll(async () => {
    await viewer.browser?.close();
    await viewer.rig?.close();
  });
  return viewer;
}

export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Seen> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  const [errors, left]: [string[], string[]] = [[], []];
  const { origin } = new URL(url);
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => {
    const to = request.url();
    if (!to.startsWith(`${origin}/`) && !to.startsWith('data:') && to !== url.split('#', 1)[0]) left.push(to);
  });
  await page.goto(url);
  return { page, errors, left, close: () => context.close() };
}
