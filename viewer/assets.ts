// The page's own files, as the build made them: one script, one style sheet, and the HTML around them. In a report they
// are inside the HTML, in the server beside it.

export interface Bundle {
  readonly script: string;
  readonly style: string;
}

/** The files of the page, by their path. */
export type Assets = Readonly<Record<string, { readonly type: string; readonly text: string }>>;

const HEAD =
  '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
  '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">';
const NO_SCRIPT =
  '<noscript><p>This page needs JavaScript, which is off in this browser. Allow it for this page, which loads nothing from ' +
  'elsewhere, or read the same on the command line: <code>everturn status</code>, <code>everturn stats</code> and ' +
  '<code>everturn show</code>, each with the name of the run.</p></noscript>';

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

export interface ReportParts {
  readonly bundle: Bundle;
  readonly island: { readonly id: string; readonly type: string; readonly text: string };
  /** The source expression of a script or a style in the policy. */
  readonly sha: (text: string) => string;
  readonly title: string;
}

/** The policy allows the one script and the one style, by their hashes, and no request. */
export function reportHtml({ bundle, island, sha, title }: ReportParts): string {
  // These stand in texts of a script alone; HTML would end the script there, or begin a comment.
  const script = bundle.script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const style = bundle.style.replaceAll('</style', '<\\/style');
  const policy =
    `default-src 'none'; script-src ${sha(script)}; style-src ${sha(style)}; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
  return (
    `<!doctype html>\n<html lang="en"><head>${HEAD}<meta http-equiv="Content-Security-Policy" content="${policy}">` +
    `<title>${escaped(title)}</title><style>${style}</style></head><body><div id="app"></div>${NO_SCRIPT}` +
    `<script id="${island.id}" type="${island.type}">${island.text}</script><script type="module">${script}</script></body></html>\n`
  );
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
