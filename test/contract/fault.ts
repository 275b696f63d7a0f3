/** A fault in a copy of the compiled code; dist itself stays unchanged. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Fault {
  /** Source file; the fault changes the compiled form of it. */
  readonly file: string;
  /** Code that occurs exactly once in the compiled file. A space matches any white space. */
  readonly find: string;
  readonly replace: string;
}

/** Returns the pieces of the compiled code between the occurrences of `find`. */
function splitAt(code: string, find: string): string[] {
  const words = find.trim().split(/\s+/);
  const pattern = words
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join(String.raw`\s+`);
  return code.split(new RegExp(pattern));
}

/** Returns the faults that cannot be made: the code does not occur once, or the replacement is equal. */
export function lostOf<Made extends Fault>(faults: readonly Made[], dist: string): Made[] {
  return faults.filter(({ file, find, replace }) => {
    const code = readFileSync(join(dist, file.replace(/\.ts$/, '.js')), 'utf8');
    return splitAt(code, find).length !== 2 || find === replace;
  });
}

/** Returns the copy, which is temporary. */
export function copyDist(dist: string, copy: string): string {
  rmSync(copy, { recursive: true, force: true });
  for (const folder of ['src', 'workers', 'test']) {
    mkdirSync(join(copy, folder), { recursive: true });
    cpSync(join(dist, folder), join(copy, folder), { recursive: true });
  }
  return copy;
}

/** Runs `trial` with the fault in the copy. Returns the reason as a text when the code does not occur exactly once. */
export async function withFault<Result>(
  copy: string,
  { file, find, replace }: Fault,
  trial: () => Promise<Result>,
): Promise<Result | string> {
  const path = join(copy, file.replace(/\.ts$/, '.js'));
  const original = readFileSync(path, 'utf8');
  const parts = splitAt(original, find);
  if (parts.length !== 2) return `its text stands ${parts.length - 1} times in ${file}, and must once`;
  writeFileSync(path, parts.join(replace));
  try {
    return await trial();
  } finally {
    writeFileSync(path, original);
  }
}
