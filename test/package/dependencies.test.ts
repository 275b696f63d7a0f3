/** The dependencies of the package are the packages that the library imports: three, and optional peers. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};
/** `from '…'` and `import('…')`, types included: declarations need them as well. */
const PACKAGE = /(?:\bfrom |\bimport\()'((?:@[\w.-]+\/)?[\w:-]+)[\w/.-]*'/g;

/** The tools are compiled with the packages that only they need. */
const isTool = (folder: string, path: string): boolean => folder === 'src' && path.startsWith('tools/');

function importedBy(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !isTool(folder, path))
    .flatMap((path) => {
      const source = readFileSync(join(ROOT, folder, path), 'utf8');
      // Examples in doc comments import the package itself.
      const text = source.replaceAll(/^ *\*.*$/gm, '');
      return Array.from(text.matchAll(PACKAGE), ([, name = '']) => name);
    });
}

test('the packages that the library imports are its dependencies, and it has no others', () => {
  const imported = new Set(
    [...importedBy('src'), ...importedBy('workers')].filter((name) => !isBuiltin(name)),
  );
  assert.deepEqual([...imported].sort(), Object.keys({ ...dependencies, ...peerDependencies }).sort());
});

test('the library has three dependencies', () => {
  assert.deepEqual(Object.keys(dependencies).sort(), ['js-yaml', 'msgpackr', 'piscina']);
});
