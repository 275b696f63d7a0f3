/**
 * `kubeloom apiserver`: the embedded apiserver in the foreground, for kubectl and for trying informers. Listens on
 * loopback only, unless `--allow-remote` is set.
 *
 * The kubeconfig file contains a token, so only the owner may read the file. It is written completely or not at all,
 * and never replaces the kubeconfig of a real cluster.
 */
import { randomUUID } from 'node:crypto';
import { lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { onAbort } from '../../base/on-abort.ts';
import type { ApiserverFlags } from './commands/apiserver.ts';
import { define, readDefinitions } from './crd-files.ts';
import { listenForInterruption } from './signals.ts';
import { printLine } from './terminal/output.ts';

/** The load runs until the server stops. */
const LOAD_MS = 2 ** 31;
/** The context of every kubeconfig of an embedded server. */
const OURS = 'current-context: kubeloom-embedded';
const OWNER_ONLY = 0o600;

export async function serve(flags: ApiserverFlags): Promise<void> {
  const { host, port, tls, token, allowRemote, pods, objectBytes, rate, kubeconfigOut } = flags;
  await checkKubeConfigTarget(kubeconfigOut);
  const definitions = (await Promise.all(flags.crd.map(readDefinitions))).flat();
  using interruption = listenForInterruption();
  const interrupted = new Promise<void>((resolve) => void onAbort(interruption.signal, resolve));
  const { startEmbeddedApiServer } = await import('../apiserver/run/start.ts');
  await using server = await startEmbeddedApiServer({
    isolation: 'none',
    host,
    port,
    tls,
    ...(token === undefined ? {} : { token }),
    ...(allowRemote === undefined ? {} : { allowRemote }),
  });
  for (const definition of definitions) await define(server, definition);
  if (pods !== undefined) await server.populate({ count: pods, objectBytes });
  await writeKubeConfig(kubeconfigOut, server.kubeConfigYaml);
  printLine(`embedded apiserver listening on ${server.url}, kubeconfig in ${kubeconfigOut}`);
  const mix = { update: 90, create: 5, delete: 5 };
  const load = rate === undefined ? undefined : server.load({ rate, objectBytes, durationMs: LOAD_MS, mix });
  await interrupted;
  await server.stopLoad();
  await load;
}

/** @throws ERR_KUBELOOM_USAGE when the file may not be replaced */
export async function checkKubeConfigTarget(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  if (!found.isFile()) throw refused(path, 'it exists and is not a regular file');
  const content = await readFile(path, 'utf8');
  if (content.trim() === '' || content.includes(OURS)) return;
  throw refused(path, 'it exists and is not the kubeconfig of an embedded apiserver; name another file');
}

export async function writeKubeConfig(path: string, yaml: string): Promise<void> {
  await checkKubeConfigTarget(path);
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writeFile(temporary, yaml, { mode: OWNER_ONLY, flag: 'wx' });
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw refused(path, messageOf(cause), { cause });
  }
}

function refused(path: string, reason: string, options?: { readonly cause: unknown }): KubeloomError {
  const message = `the kubeconfig cannot be written to ${path}: ${reason}`;
  return new KubeloomError('ERR_KUBELOOM_USAGE', message, options);
}
