/**
 * Location of the thread entries: beside the sources, in dist, in an installed package, or in a bundle.
 *
 * Sources and `dist` have them three levels up in `workers/`. A bundle has no such folder: the recipe in
 * docs/bundling.md puts `workers/` beside the bundle's file.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KubeloomError } from '../../base/errors.ts';

/**
 * Entry files by thread. The indexer's is CommonJS; that file gives the reason. A CommonJS bundle may name it `.js`.
 */
const ENTRIES: Readonly<Record<'reflector' | 'indexer', readonly string[]>> = {
  reflector: ['reflector.js'],
  indexer: ['indexer.cjs', 'indexer.js'],
};

export function workerUrl(name: keyof typeof ENTRIES): URL {
  const isSource = import.meta.url.endsWith('.ts');
  const candidates = ENTRIES[name]
    .flatMap((entry) => [
      `../../../workers/${isSource ? entry.replace('js', 'ts') : entry}`,
      `./workers/${entry}`,
    ])
    .map((path) => new URL(path, import.meta.url));
  const found = candidates.find((url) => existsSync(fileURLToPath(url)));
  if (found) return found;
  throw new KubeloomError(
    'ERR_KUBELOOM_WORKER_FILE',
    `the thread entry ${name} was not found at ${candidates.map(String).join(' or ')}; ` +
      'when bundling, emit kubeloom/workers/* beside the bundle as docs/bundling.md says',
  );
}
