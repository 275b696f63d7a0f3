/** The apiserver of a soak: a real one, or the embedded one in a process of its own. */
import { readFileSync } from 'node:fs';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { startControlPlane } from '../e2e/control-plane.ts';

export interface SoakServer extends AsyncDisposable {
  /** Its server is `https://127.0.0.1:PORT`. */
  readonly kubeconfig: string;
  readonly port: number;
  /** Ends the server and starts it again, with the same data. Resolves when it is ready. */
  restart(how: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Makes every version that a client has seen too old. */
  compact(): Promise<void>;
}

const DOWN_MS = 1000;
const FLAGS = ['--feature-gates=ShardedListAndWatch=true'];

export async function startRealServer(): Promise<SoakServer> {
  const controlPlane = await startControlPlane({ apiServerFlags: FLAGS });
  return {
    kubeconfig: readFileSync(controlPlane.kubeconfigPath, 'utf8'),
    port: Number(new URL(controlPlane.server).port),
    restart: (how) => controlPlane.restartApiServer(how),
    compact: async () => void (await controlPlane.compact()),
    [Symbol.asyncDispose]: () => controlPlane.stop(),
  };
}

export async function startEmbeddedServer(): Promise<SoakServer> {
  const server = await startEmbeddedApiServer({ isolation: 'process', sharding: 'echoes' });
  return {
    kubeconfig: server.kubeConfigYaml,
    port: server.port,
    restart: () => server.restart({ downMs: DOWN_MS }),
    compact: async () => {
      await Promise.all([server.dropWatches({ how: 'reset' }), server.compact()]);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Faults of the server wait for each other: it cannot be killed while it starts. */
export function inTurns(server: SoakServer): SoakServer {
  let last: Promise<unknown> = Promise.resolve();
  const next = (act: () => Promise<void>): Promise<void> => {
    const done = last.then(act);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    kubeconfig: server.kubeconfig,
    port: server.port,
    restart: (how) => next(() => server.restart(how)),
    compact: () => next(() => server.compact()),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
