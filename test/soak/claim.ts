/** Faults that code inside a thread takes: the conductor writes a file, and the thread that removes it commits the fault. */
import { existsSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The environment variable with the folder of a soak's files; threads inherit it. */
const FOLDER = 'KUBELOOM_SOAK_FOLDER';

export type ClaimedFault = 'shard-exits' | 'shard-blocks' | 'pool-exits' | 'pool-blocks';

/** The file of a fault, with its duration. */
export function order(folder: string, fault: ClaimedFault): void {
  writeFileSync(join(folder, fault), '');
}

export function isClaimed(folder: string, fault: ClaimedFault): boolean {
  return !existsSync(join(folder, fault));
}

/** Returns whether this thread is to commit the fault. */
export function claims(fault: ClaimedFault): boolean {
  const file = join(folderOfSoak(), fault);
  // Two threads may see the file, and one of them removes it.
  if (!existsSync(file)) return false;
  try {
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}

export function folderOfSoak(): string {
  return process.env[FOLDER] ?? '.';
}

export function environmentOf(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, [FOLDER]: folder };
}

/** Blocks the thread. */
export function block(lastsMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lastsMs);
}
