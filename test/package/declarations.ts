/**
 * Completes the declaration files in `dist`; the last step of `npm run prepare`. The types of the built-in kinds are written out, so
 * that no program needs client-node for its types; where client-node's own types are named, the compiler ignores that it is missing.
 * The files that no entry of the package needs are removed: the package is smaller, and they are in no completion.
 */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILT_IN_GROUPS } from '../../src/kube/resources.ts';
import { declarationsOf } from './models.ts';

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

function rewrite(path: string, change: (text: string) => string): void {
  const file = join(ROOT, path);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

const models = declarationsOf(
  join(ROOT, 'node_modules/@kubernetes/client-node/dist/gen/models'),
  BUILT_IN_GROUPS,
);
rewrite('dist/src/kube/models.d.ts', () => models);
rewrite('dist/src/kube/client-node-types.d.ts', (text) =>
  text.replace(/^import type .*client-node';$/m, '// @ts-ignore -- an optional package\n$&'),
);
// The texts are in docs/errors.md.
for (const name of readdirSync(join(ROOT, 'dist/src/base/error-codes')).filter((file) =>
  file.endsWith('.d.ts'),
))
  rewrite(`dist/src/base/error-codes/${name}`, (text) =>
    text.replace(/(readonly ERR_\w+): readonly \[readonly \[[\s\S]*?\];\n/g, '$1: unknown;\n'),
  );

const needed = neededDeclarations();
for (const folder of ['dist/src', 'dist/workers']) {
  for (const path of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    const file = join(ROOT, folder, path);
    if (/\.d\.c?ts$/.test(path) && !needed.has(file)) rmSync(file);
  }
}
