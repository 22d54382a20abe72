// The two XML answers of an S3 server that are read: a page of a listing, and an error. Only the elements that are needed,
// by name: an answer is bounded by its reader, and each pattern takes time linear in it.

export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
  readonly modifiedMs: number;
}

export interface ListPage {
  readonly objects: readonly ListedObject[];
  /** With a slash at the end. */
  readonly prefixes: readonly string[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
}

/** Undefined for anything that is no listing: a proxy's page, an answer that was cut. */
export function parseListing(xml: string): ListPage | undefined {
  if (!xml.includes('<ListBucketResult') || !xml.trimEnd().endsWith('</ListBucketResult>')) return undefined;
  const objects = elements(xml, 'Contents').map((object) => ({
    key: text(object, 'Key') ?? '',
    bytes: Number(text(object, 'Size') ?? 0),
    etag: text(object, 'ETag') ?? '',
    modifiedMs: Date.parse(text(object, 'LastModified') ?? '') || 0,
  }));
  const prefixes = elements(xml, 'CommonPrefixes').map((one) => text(one, 'Prefix') ?? '');
  const cut = text(xml, 'IsTruncated') === 'true';
  const next = cut ? text(xml, 'NextContinuationToken') : undefined;
  if (cut && !next) return undefined;
  return { objects, prefixes, next };
}

export interface ErrorAnswer {
  /** `NoSuchKey`, `SlowDown`, …; empty where the answer has none. */
  readonly code: string;
  readonly message: string;
  /** The bucket's own region, where the request named another. */
  readonly region: string | undefined;
}

export function parseError(xml: string): ErrorAnswer {
  const error = elements(xml, 'Error')[0] ?? '';
  return { code: text(error, 'Code') ?? '', message: text(error, 'Message') ?? '', region: text(error, 'Region') };
}

function elements(xml: string, name: string): string[] {
  const found: string[] = [];
  const [open, close] = [`<${name}>`, `</${name}>`];
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at);
    if (end < 0) break;
    found.push(xml.slice(at + open.length, end));
    at = end + close.length;
  }
  return found;
}

function text(xml: string, name: string): string | undefined {
  const open = `<${name}>`;
  const at = xml.indexOf(open);
  const end = at < 0 ? -1 : xml.indexOf(`</${name}>`, at);
  return end < 0 ? undefined : decoded(xml.slice(at + open.length, end));
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decoded(escaped: string): string {
  if (!escaped.includes('&')) return escaped;
  return escaped.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return NAMED[String(name)] ?? String(whole);
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : String(whole);
  });
}
