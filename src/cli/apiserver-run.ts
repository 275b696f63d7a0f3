/**
 * `kubeloom apiserver`: the embedded apiserver in the foreground, for kubectl and for trying informers. Listens on
 * loopback only, unless `--allow-remote` is set.
 */
import type { EmbeddedApiServer } from '../apiserver/embedded-server.ts';
import { startEmbeddedApiServer } from '../apiserver/start.ts';
import type { ApiserverFlags } from './flags.ts';
import { wantKubeConfigTarget, writeKubeConfig } from './kubeconfig-file.ts';
import { listenForInterruption } from './signals.ts';

/** The load has no end: it stops with the server. */
const LOAD_MS = 2 ** 31;

export async function runApiserver(flags: ApiserverFlags): Promise<void> {
  await wantKubeConfigTarget(flags.kubeconfigOut);
  using interruption = listenForInterruption();
  await using server = await startEmbeddedApiServer({
    isolation: 'none',
    host: flags.host,
    port: flags.port,
    tls: flags.tls,
    ...(flags.token === undefined ? {} : { token: flags.token }),
    ...(flags.allowRemote === true ? { allowRemote: true } : {}),
  });
  if (flags.pods !== undefined) {
    await server.populate({ count: flags.pods, objectBytes: flags.objectBytes });
  }
  await writeKubeConfig(flags.kubeconfigOut, server.kubeConfigYaml);
  console.log(`embedded apiserver listening on ${server.url}, kubeconfig in ${flags.kubeconfigOut}`);
  const load = startLoad(server, flags);
  await aborted(interruption.signal);
  await server.stopLoad();
  await load;
}

async function startLoad(server: EmbeddedApiServer, flags: ApiserverFlags): Promise<void> {
  if (flags.rate === undefined) return;
  const { rate, objectBytes } = flags;
  await server.load({
    rate,
    objectBytes,
    durationMs: LOAD_MS,
    mix: { update: 90, create: 5, delete: 5 },
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
