// Harms to the packs of a run, each with the files of which a message must name one.

import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PackRecord } from '../../storage/pack/manifest.ts';
import { openPackFile } from '../../storage/pack/pack-file.ts';
import { openZipWriter, packed } from '../../storage/pack/zip.ts';
import { FULL } from '../chaos/size.ts';
import { publish } from '../proof/packed.ts';

export interface Run {
  readonly folder: string;
  readonly packs: string;
  readonly zips: readonly string[];
}

export type Plant = (run: Run) => unknown;

const changed =
  (name: (run: Run) => string, at: (bytes: number) => number): Plant =>
  (run) => {
    const path = join(run.packs, name(run));
    const bytes = readFileSync(path);
    const place = at(bytes.length);
    bytes[place] = bytes[place]! ^ (1 << (place % 8));
    writeFileSync(path, bytes);
  };

const cut =
  (to: (bytes: number) => number): Plant =>
  ({ packs, zips }) => {
    const bytes = readFileSync(join(packs, zips[1]!));
    writeFileSync(join(packs, zips[1]!), bytes.subarray(0, to(bytes.length)));
  };

/** The zip again with other entries, as a zip program would leave it. */
const rewritten =
  (entries: (name: string, text: string) => readonly (readonly [string, string])[]): Plant =>
  async ({ packs, zips }) => {
    const file = openPackFile(join(packs, zips[1]!));
    const writer = openZipWriter();
    const parts: Buffer[] = [];
    for (const name of (await file.entries()).keys())
      for (const [as, text] of entries(name, (await file.text(name))!))
        parts.push(...writer.add(as, await packed(text)));
    file.close();
    writeFileSync(join(packs, zips[1]!), Buffer.concat([...parts, writer.end()]));
  };

const without =
  (number: number): Plant =>
  ({ packs }) =>
    rmSync(join(packs, `00000${number}.json`));

const both =
  (...plants: readonly Plant[]): Plant =>
  async (run) => {
    for (const plant of plants) await plant(run);
  };

const zip = ({ zips }: Run) => zips[1]!;
const OTHER = '000007-0123456789ab.zip';
const isRollout = (name: string) => name.startsWith('rollouts/');
/** Parts of a file: of a zip its entries, then its directory. */
const PLACES = FULL ? [0, 0.02, 0.2, 0.4, 0.6, 0.8, 0.9, 0.99] : [0, 0.4, 0.8];

/** With the names of which a message must have one. */
export const HARMS: Readonly<Record<string, readonly [Plant, ...(string | ((run: Run) => string))[]]>> = {
  'a zip cut to nothing': [cut(() => 0), zip],
  'a zip cut in the middle': [cut((bytes) => bytes >> 1), zip],
  'a zip without its last byte': [cut((bytes) => bytes - 1), zip],
  ...Object.fromEntries(
    PLACES.map((part) => [`a zip changed at ${part}`, [changed(zip, (bytes) => Math.floor(bytes * part)), zip]]),
  ),
  'a zip changed in its last byte': [changed(zip, (bytes) => bytes - 1), zip],
  'a zip that is missing': [({ packs, zips }) => rmSync(join(packs, zips[1]!)), zip],
  'a zip under two names': [({ packs, zips }) => cpSync(join(packs, zips[1]!), join(packs, OTHER)), OTHER],
  'a zip under another name': [({ packs, zips }) => renameSync(join(packs, zips[1]!), join(packs, OTHER)), zip],
  'two zips exchanged': [
    ({ packs, zips }) => {
      renameSync(join(packs, zips[1]!), join(packs, 'x'));
      renameSync(join(packs, zips[0]!), join(packs, zips[1]!));
      renameSync(join(packs, 'x'), join(packs, zips[0]!));
    },
    zip,
    ({ zips }) => zips[0]!,
  ],
  'an entry doubled in a zip': [
    rewritten((name, text) =>
      isRollout(name)
        ? [
            [name, text],
            [name, text],
          ]
        : [[name, text]],
    ),
    zip,
  ],
  'an entry renamed in a zip': [
    rewritten((name, text) => [[isRollout(name) ? name.replace(/0\.1\.jsonl$/, '8.1.jsonl') : name, text]]),
    zip,
  ],
  'an entry gone from a zip': [rewritten((name, text) => (name.endsWith('0.1.jsonl') ? [] : [[name, text]])), zip],
  'a manifest that is missing': [without(2), zip],
  'the last manifest missing': [without(3), ({ zips }) => zips[2]!],
  'all manifests missing': [both(without(1), without(2), without(3)), '.zip'],
  ...Object.fromEntries(
    PLACES.map((part) => [
      `a manifest changed at ${part}`,
      [
        changed(
          () => '000002.json',
          (bytes) => Math.floor(bytes * part),
        ),
        '000002.json',
        zip,
      ],
    ]),
  ),
  'a manifest cut': [
    ({ packs }) => writeFileSync(join(packs, '000002.json'), readFileSync(join(packs, '000002.json')).subarray(0, 90)),
    '000002.json',
    zip,
  ],
  'the manifest of another pack': [
    ({ packs }) => cpSync(join(packs, '000001.json'), join(packs, '000002.json')),
    '000002.json',
    zip,
  ],
  'two manifests of one pack': [
    async ({ folder, packs, zips }) => {
      const { rollouts } = JSON.parse(readFileSync(join(packs, '000002.json'), 'utf8')) as PackRecord;
      await publish(folder, 4, readFileSync(join(packs, zips[1]!)), rollouts);
    },
    '000004.json',
    '000004-',
  ],
  'a foreign file': [({ packs }) => writeFileSync(join(packs, 'notes.txt'), 'x'), 'notes.txt'],
  'a zip cut whose manifest is missing': [
    both(
      cut((bytes) => bytes >> 1),
      without(2),
    ),
    zip,
  ],
  ...Object.fromEntries(
    PLACES.map((part) => [
      `a zip changed at ${part} whose manifest is missing`,
      [
        both(
          changed(zip, (bytes) => Math.floor(bytes * part)),
          without(2),
        ),
        zip,
      ],
    ]),
  ),
  'an entry doubled in a zip whose manifest is missing': [
    both(
      rewritten((name, text) =>
        isRollout(name)
          ? [
              [name, text],
              [name, text],
            ]
          : [[name, text]],
      ),
      without(2),
    ),
    zip,
  ],
  'an entry renamed in a zip whose manifest is missing': [
    both(
      rewritten((name, text) => [[isRollout(name) ? name.replace(/0\.1\.jsonl$/, '8.1.jsonl') : name, text]]),
      without(2),
    ),
    zip,
  ],
  'a zip under two names whose manifest is missing': [
    both(({ packs, zips }) => cpSync(join(packs, zips[1]!), join(packs, OTHER)), without(2)),
    zip,
    OTHER,
  ],
};
