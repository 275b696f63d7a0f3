/** The clauses of docs/contract.md, and the clauses that a test cites. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Clause {
  /** `C7`. */
  readonly number: string;
  readonly title: string;
  /**
   * Whether the clause is marked °: it concerns a layer without threads, and tests of that layer prove it once
   * (layers.ts).
   */
  readonly isOfLayer: boolean;
}

/** The folder with package.json, for dist and for the sources. */
export const ROOT: string = rootAbove(dirname(fileURLToPath(import.meta.url)));

function rootAbove(folder: string): string {
  try {
    readFileSync(join(folder, 'package.json'));
    return folder;
  } catch {
    return rootAbove(dirname(folder));
  }
}

/** Returns every paragraph that begins with `**C7 Title.**` or `**C7° Title.**`, in the order of the document. */
export function readClauses(
  markdown: string = readFileSync(join(ROOT, 'docs/contract.md'), 'utf8'),
): Clause[] {
  const matches = markdown.matchAll(/^\*\*(C\d+)(°?) ([^*]+?)\.?\*\*/gm);
  return Array.from(matches, ([, number = '', mark, title = '']) => ({
    number,
    title,
    isOfLayer: mark === '°',
  }));
}

/** Returns the numbers at the beginning of a test's title, e.g. `C8 C36 a removed handler …`. */
export function citedBy(title: string): string[] {
  return /^(?:C\d+ )+/.exec(title)?.[0].trim().split(' ') ?? [];
}
