/** A fault in a copy of the compiled code: dist itself is never touched. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Fault {
  /** The source file; what is changed is what it is compiled to. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** @returns the copy, which is scratch */
export function copyDist(dist: string, copy: string): string {
  rmSync(copy, { recursive: true, force: true });
  for (const folder of ['src', 'workers', 'test']) {
    mkdirSync(join(copy, folder), { recursive: true });
    cpSync(join(dist, folder), join(copy, folder), { recursive: true });
  }
  return copy;
}

/** What `trial` finds while the fault is in the copy; in words why there was none, when its text is not there once. */
export async function withFault<Result>(
  copy: string,
  { file, find, replace }: Fault,
  trial: () => Promise<Result>,
): Promise<Result | string> {
  const path = join(copy, file.replace(/\.ts$/, '.js'));
  const original = readFileSync(path, 'utf8');
  const parts = original.split(find);
  if (parts.length !== 2) return `its text stands ${parts.length - 1} times in ${file}, and must once`;
  writeFileSync(path, parts.join(replace));
  try {
    return await trial();
  } finally {
    writeFileSync(path, original);
  }
}
