/**
 * `kubeloom mirror`: a mirror of resources of a cluster in the foreground. It listens where only this machine can connect:
 * on a Unix socket, or on loopback with a token.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { kubeConfigOf, kubeConfigYaml } from '../apiserver/kubeconfig.ts';
import { KubeloomError, messageOf } from '../base/errors.ts';
import { onAbort } from '../base/on-abort.ts';
import { loadKubeConfig } from '../index.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { findResource } from '../kube/rest-mapper.ts';
import { Mirror } from '../mirror/mirror.ts';
import type { MirrorAddress } from '../mirror/mirror.ts';
import { ApiClient } from '../reflector/api-client.ts';
import { wantKubeConfigTarget, writeKubeConfig } from './apiserver.ts';
import type { MirrorFlags } from './commands/mirror.ts';
import { failureText } from './failure.ts';
import { listenForInterruption } from './signals.ts';

export async function mirror(names: readonly string[], flags: MirrorFlags): Promise<void> {
  const address = await addressOf(flags);
  if (flags.kubeconfigOut !== undefined) await wantKubeConfigTarget(flags.kubeconfigOut);
  using interruption = listenForInterruption();
  const { signal } = interruption;
  try {
    await serve(names, address, flags, signal);
  } catch (error) {
    // A failure because of the interruption is expected.
    if (!signal.aborted) throw error;
  }
}

async function serve(
  names: readonly string[],
  address: MirrorAddress,
  { kubeconfig, context, kubeconfigOut, historyMib, verbose = false }: MirrorFlags,
  signal: AbortSignal,
): Promise<void> {
  const interrupted = new Promise<void>((resolve) => void onAbort(signal, resolve));
  const source = loadKubeConfig({
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const client = new ApiClient(source);
  const resources = new Map<string, ResourceRef>();
  for (const name of names.flatMap((each) => each.split(','))) {
    const ref = await findResource(name, (path) => client.getJson(path, signal));
    resources.set(`${ref.resource}.${ref.group}`, ref);
  }
  await using server = new Mirror({
    source,
    resources: [...resources.values()],
    address,
    ...(historyMib === undefined ? {} : { historyBytesMax: historyMib * 2 ** 20 }),
    onError: (error) => console.error(failureText(error, verbose)),
  });
  const endpoint = await server.start();
  if (kubeconfigOut !== undefined)
    await writeKubeConfig(kubeconfigOut, kubeConfigYaml(kubeConfigOf(endpoint)));
  const written = kubeconfigOut === undefined ? '' : `, kubeconfig in ${kubeconfigOut}`;
  console.log(
    `mirror of ${[...resources.keys()].map(shown).join(', ')} listening on ${endpoint.url}${written}`,
  );
  await interrupted;
}

/** Returns `pods` for `pods.`, which is in the core group. */
function shown(name: string): string {
  return name.replace(/\.$/, '');
}

/** @throws ERR_KUBELOOM_USAGE when the flags name no address, or leave clients without token and certificate */
export async function addressOf(flags: MirrorFlags): Promise<MirrorAddress> {
  const { unix, port, tokenFile, kubeconfigOut } = flags;
  if (unix !== undefined) {
    if ((tokenFile ?? kubeconfigOut) === undefined) return { socketPath: unix };
    throw usage('--token-file and --kubeconfig-out are for --port: a Unix socket needs no token');
  }
  if (port === undefined) throw usage('name the place to listen: --unix PATH, or --port PORT');
  if (kubeconfigOut !== undefined) {
    return { port, token: tokenFile === undefined ? randomUUID() : await tokenIn(tokenFile) };
  }
  throw usage('--port needs --kubeconfig-out: clients find the certificate and the token there');
}

async function tokenIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw usage(`the token file cannot be read: ${messageOf(cause)}`, cause);
  });
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw usage(`the token file ${file} must hold one line of printable ASCII without spaces`);
}

function usage(message: string, cause?: unknown): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_USAGE', message, { cause });
}
