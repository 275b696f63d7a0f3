/**
 * Removes from `dist` the declaration files that no entry of the package needs; the last step of `npm run build`. What is
 * not there is in no completion, and the package is smaller.
 */
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** `from './…'` and `import('./…')`; the compiler writes both with the extension of the source. */
const RELATIVE = /(?:\bfrom |\bimport\()["'](\.[^"']+)\.[tj]s["']/g;

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types?: string }>>;
}

/** Returns the declaration files of the entries, and all that these import. */
function neededDeclarations(): ReadonlySet<string> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  const needed = new Set<string>();
  for (const entry of Object.values(exports)) {
    if (typeof entry === 'object' && entry.types !== undefined) needed.add(join(ROOT, entry.types));
  }
  // The loop also visits the files that it adds.
  for (const file of needed) {
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(RELATIVE)) {
      needed.add(resolve(dirname(file), `${path}.d.ts`));
    }
  }
  return needed;
}

const needed = neededDeclarations();
for (const folder of ['dist/src', 'dist/workers']) {
  for (const path of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    const file = join(ROOT, folder, path);
    if (/\.d\.c?ts$/.test(path) && !needed.has(file)) rmSync(file);
  }
}
