// The process that writes a temporary file, in the file's name: so that what a killed one left is known at once on the
// same machine, and a live writer's file is never taken for it. Files of other machines are judged by their age.

import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from './errors.ts';

/** Process ids mean one process within one boot and one namespace of processes. */
function machine(): string {
  const parts = [
    () => hostname(),
    () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'),
    () => readlinkSync('/proc/self/ns/pid'),
  ].map((read) => {
    try {
      return read();
    } catch {
      return '';
    }
  });
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 8);
}

const MACHINE = machine();
let written = 0;

/** Unique for each file of each writer, threads of one process included. */
const THREAD = randomBytes(5).toString('hex');
export const writerName = (): string => `${process.pid}-${MACHINE}-${THREAD}-${(written++).toString(36)}`;

const WRITER = /\.(\d{1,10})-([0-9a-f]{8})-[0-9a-f]{10}-[0-9a-z]{1,9}\.tmp$/;

/** The name of a temporary file whose writer was a process of this machine, and is no more. */
export function isOfDeadWriter(name: string): boolean {
  const [, pid, where] = WRITER.exec(name) ?? [];
  if (pid === undefined || where !== MACHINE) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

export const temporaryName = (name: string, unique: string): string => `.${name}.${unique}.tmp`;
export const isTemporary = (name: string): boolean => /^\..+\.tmp$/.test(name);
