/**
 * The imports between files.
 */
import path from 'node:path';

import { lineAt } from './source-file.ts';
import type { SourceFile } from './source-file.ts';

export interface Import {
  readonly line: number;
  /** The imported file's path from the repository's root. */
  readonly target: string;
}

/** `from '…'`, `import '…'`, `import('…')`, and `new URL('…', …)`, which is how threads are started. */
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*'( *)'/g;

/** The relative imports of a file, types included. */
export function importsOf(file: SourceFile): Import[] {
  const imports: Import[] = [];
  for (const match of file.code.matchAll(SPECIFIER)) {
    const end = match.index + match[0].length - 1;
    const specifier = file.text.slice(end - (match[1] ?? '').length, end);
    if (!specifier.startsWith('.')) continue;
    const target = path.posix.join(path.posix.dirname(file.path), specifier).replace(/\.js$/, '.ts');
    imports.push({ line: lineAt(file.text, end), target });
  }
  return imports;
}

export class ImportGraph {
  readonly #imports: ReadonlyMap<string, readonly Import[]>;

  constructor(files: readonly SourceFile[]) {
    this.#imports = new Map(files.map((file) => [file.path, importsOf(file)]));
  }

  has(file: string): boolean {
    return this.#imports.has(file);
  }

  importsOf(file: string): readonly Import[] {
    return this.#imports.get(file) ?? [];
  }

  /** The given files and all that they import, directly or not. */
  reachableFrom(entries: readonly string[]): ReadonlySet<string> {
    const reached = new Set<string>(entries.filter((entry) => this.has(entry)));
    for (const file of reached) {
      for (const { target } of this.importsOf(file)) if (this.has(target)) reached.add(target);
    }
    return reached;
  }

  /** The shortest way from a file back to itself, starting with the given import. */
  cycleThrough(file: string, first: Import): readonly string[] | undefined {
    const cameFrom = new Map<string, string>([[first.target, file]]);
    for (const at of cameFrom.keys()) {
      if (at === file) break;
      for (const { target } of this.importsOf(at)) if (!cameFrom.has(target)) cameFrom.set(target, at);
    }
    if (!cameFrom.has(file)) return undefined;
    const way = [file];
    do way.unshift(cameFrom.get(way[0] ?? '') ?? '');
    while (way[0] !== file);
    return way;
  }
}
