// Any folder of a run, harmed or not, as packs that agree with themselves: what a forger who knows the format would make.
// No rollout is left loose, and nothing is proved on the way.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { logName } from '../../domain/turn-log.ts';
import { inOrder } from '../../storage/pack/lines.ts';
import { manifestFile, type PackedId, packedId, zipName } from '../../storage/pack/manifest.ts';
import { openZipWriter, packed } from '../../storage/pack/zip.ts';
import { parseRolloutFolder } from '../../storage/record/layout.ts';
import { encodeRecord } from '../../storage/record/text.ts';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const namesIn = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);

/** `folders`: query by the name of its folder, for rollouts whose first record does not say it. */
export async function packAll(folder: string, folders: ReadonlyMap<string, string>): Promise<void> {
  const writer = openZipWriter();
  const parts: Buffer[] = [];
  const ids: PackedId[] = [];
  const add = async (name: string, text: string) => void parts.push(...writer.add(name, await packed(text)));
  for (const shard of namesIn(join(folder, 'rollouts'))) {
    const top = join(folder, 'rollouts', shard);
    if (!statSync(top).isDirectory()) continue;
    for (const query of namesIn(top)) {
      const known = folders.get(query);
      if (known === undefined) continue;
      for (const name of namesIn(join(top, query))) {
        const place = parseRolloutFolder(name);
        const names = place ? inOrder(namesIn(join(top, query, name))) : [];
        if (!place || names.length === 0) continue;
        const id = { query: known, ...place };
        ids.push(id);
        const texts = names.map((file) => readFileSync(join(top, query, name, file), 'utf8'));
        await add(`rollouts/${shard}/${query}/${name}.jsonl`, texts.join(''));
        for (const version of namesIn(join(folder, 'answers'))) {
          for (const kind of ['txt', 'jsonl']) {
            const log = join(folder, 'answers', version, `${logName(id)}.${kind}`);
            if (!existsSync(log)) continue;
            await add(`answers/${version}/${logName(id)}.${kind}`, readFileSync(log, 'utf8'));
            rmSync(log);
          }
        }
        rmSync(join(top, query, name), { recursive: true });
      }
    }
  }
  const zip = Buffer.concat([...parts, writer.end()]);
  await publish(folder, 1, zip, ids.map(packedId));
}

/** A pack with a manifest that fits it. */
export async function publish(folder: string, number: number, zip: Buffer, rollouts: readonly string[]): Promise<void> {
  mkdirSync(join(folder, 'packs'), { recursive: true });
  const pack = zipName(number, sha256(zip).slice(0, 12));
  writeFileSync(join(folder, 'packs', pack), zip);
  const manifest = { number, pack, bytes: zip.length, zipSha256: sha256(zip), rollouts };
  writeFileSync(join(folder, manifestFile(number)), (await encodeRecord('pack', null, manifest)).text);
}
