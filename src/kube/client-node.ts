/**
 * The client-node that is installed beside kubeloom, an optional package: it is loaded with the first call that needs it,
 * because it takes a third of a second and 57 MB. Informers need it only for users with the auth provider oidc.
 */
import { createRequire } from 'node:module';
import { KubeloomError, firstLineOf } from '../base/errors.ts';
import type { ClientNode } from './client-node-types.ts';

const PACKAGE = '@kubernetes/client-node';
/** The first Node that loads version 2. */
const NODE_OF_VERSION_2 = 22;
const HAND_IN =
  `hand it in: const clientNode = await import('${PACKAGE}'), then loadKubeConfig({ clientNode }), and ` +
  'createModelConverter(clientNode) for toModel and fromModel';

/**
 * Loads client-node: the same module as with `import`, because Node ≥ 20.19 requires ES modules.
 *
 * @throws ERR_KUBELOOM_CLIENT_NODE when it is not installed, or cannot be loaded here
 */
export function clientNode(
  load: (name: string) => unknown = requireInstalled,
  nodeVersion: string = process.versions.node,
): ClientNode {
  try {
    return load(PACKAGE) as ClientNode;
  } catch (cause) {
    const why = isMissing(cause) ? missing(nodeVersion) : unloadable(cause, nodeVersion);
    throw new KubeloomError('ERR_KUBELOOM_CLIENT_NODE', why, { cause });
  }
}

function requireInstalled(name: string): unknown {
  return createRequire(import.meta.url)(name) as unknown;
}

/** Returns whether client-node itself is missing: a missing dependency of client-node is another fault. */
function isMissing(cause: unknown): boolean {
  const code = codeOf(cause);
  const isNotFound = code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND';
  return isNotFound && firstLineOf(cause).includes(`'${PACKAGE}'`);
}

function missing(nodeVersion: string): string {
  const version = versionFor(nodeVersion);
  return `${PACKAGE} is not installed here: npm install ${PACKAGE}${version}. If it is part of a bundle, ${HAND_IN}`;
}

function unloadable(cause: unknown, nodeVersion: string): string {
  const what = `${PACKAGE} is installed and cannot be loaded (${firstLineOf(cause)}).`;
  const where = `Where require() does not take ES modules, as in jest, ${HAND_IN}`;
  const version = versionFor(nodeVersion);
  // Then the version does not matter.
  const isLoader = codeOf(cause) === 'ERR_REQUIRE_ESM';
  if (isLoader || version === '') return `${what} ${where}`;
  return `${what} Node ${nodeVersion} loads only its version 1: npm install ${PACKAGE}${version}. ${where}`;
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}

/** The version to ask npm for; '' for the newest. */
function versionFor(nodeVersion: string): string {
  return Number.parseInt(nodeVersion, 10) < NODE_OF_VERSION_2 ? '@1' : '';
}
