/** Imports of the library in the tools, read from the compiled code. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Folders of compiled modules, relative to the root of the repository. */
export const LIBRARY = 'dist/src/';
export const TOOLS = 'dist/src/tools/';

const NAMED_IMPORT = /\b(?:import|export) \{([^}]*)\} from '(\.[^']+\.js)'/g;

/** @returns the imported names by compiled module, such as `dist/src/base/errors.js` */
export function importsOfTools(root: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const path of readdirSync(join(root, TOOLS), { recursive: true, encoding: 'utf8' })) {
    // An output whose source is gone stays in `dist` until the folder is removed.
    const source = join(root, 'src/tools', path.replace(/\.js$/, '.ts'));
    if (!path.endsWith('.js') || !existsSync(source)) continue;
    const folder = dirname(join(TOOLS, path));
    for (const [, list = '', target = ''] of readFileSync(join(root, TOOLS, path), 'utf8').matchAll(
      NAMED_IMPORT,
    )) {
      const module = normalize(join(folder, target));
      if (!module.startsWith(LIBRARY) || module.startsWith(TOOLS)) continue;
      const names = found.get(module) ?? new Set();
      found.set(module, names);
      for (const name of list.split(',')) {
        const imported = name.trim().split(' as ')[0] ?? '';
        if (imported !== '') names.add(imported);
      }
    }
  }
  return found;
}
