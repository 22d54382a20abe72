// The page's own files, as the build made them: one script, one style sheet, and the HTML around them. In a report they
// are inside the HTML, in the server beside it.

export interface Bundle {
  readonly script: string;
  readonly style: string;
}

/** By path. */
export type Assets = Readonly<Record<string, { readonly type: string; readonly text: string }>>;

const HEAD =
  '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
  '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">';
const NO_SCRIPT =
  '<noscript><p>This page needs JavaScript, which is off. Everything it shows is also on the command line: ' +
  '<code>everturn status</code>, <code>everturn show</code>.</p></noscript>';

export function serverAssets({ script, style }: Bundle): Assets {
  const html =
    `<!doctype html><html lang="en"><head>${HEAD}<title>Everturn</title><link rel="stylesheet" href="/page.css">` +
    `<script type="module" src="/page.js"></script></head><body><div id="app"></div>${NO_SCRIPT}</body></html>\n`;
  return {
    '/': { type: 'text/html; charset=utf-8', text: html },
    '/page.js': { type: 'text/javascript; charset=utf-8', text: script },
    '/page.css': { type: 'text/css; charset=utf-8', text: style },
  };
}
