/**
 * Where the thread entries are: beside the sources, in dist, in an installed package, or in a bundle.
 *
 * `src/threads/x.ts` and `dist/src/threads/x.js` both have them two levels up in `workers/`. In a bundle
 * there is no such folder: the recipe in docs/bundling.md puts `workers/` beside the bundle's file.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KubeloomError } from '../errors.ts';

export function workerUrl(name: 'reflector' | 'indexer'): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const candidates = [`../../workers/${name}.${extension}`, `./workers/${name}.js`].map(
    (path) => new URL(path, import.meta.url),
  );
  const found = candidates.find((url) => existsSync(fileURLToPath(url)));
  if (found) return found;
  throw new KubeloomError(
    'ERR_KUBELOOM_WORKER_FILE',
    `the thread entry ${name} was not found at ${candidates.map(String).join(' or ')}; ` +
      'when bundling, emit kubeloom/workers/* beside the bundle as docs/bundling.md says',
  );
}
