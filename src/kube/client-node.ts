/**
 * The client-node that is installed beside kubeloom, loaded when something of it is wanted: it takes a third of a second
 * and 57 MB, which who has a KubeConfig has paid already, and who has a ListerWatcher of his own need not pay.
 */
import { createRequire } from 'node:module';
import { KubeloomError, firstLineOf } from '../errors.ts';

type ClientNode = typeof import('@kubernetes/client-node');

const PACKAGE = '@kubernetes/client-node';

/**
 * Loads it with the first call. The same module as with `import`: Node ≥ 20.19 requires ES modules.
 *
 * @throws ERR_KUBELOOM_CLIENT_NODE when it is not installed, or does not run on this Node
 */
export function clientNode(load: (name: string) => unknown = createRequire(import.meta.url)): ClientNode {
  try {
    return load(PACKAGE) as ClientNode;
  } catch (cause) {
    throw new KubeloomError(
      'ERR_KUBELOOM_CLIENT_NODE',
      `${PACKAGE} cannot be loaded (${firstLineOf(cause)}): install ${PACKAGE}@1, or with Node 22 and later version 2`,
      { cause },
    );
  }
}
