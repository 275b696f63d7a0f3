/**
 * `kubeloom apiserver`: the embedded apiserver in the foreground, for kubectl and for informers that are
 * tried out. Loopback only, unless it is asked for more.
 */
import { Command } from 'commander';
import type { EmbeddedApiServer } from '../embedded/embedded-server.ts';
import { startEmbeddedApiServer } from '../embedded/start.ts';
import { parseObjectBytes, parsePods, parsePort, parseRate } from './arguments.ts';
import type { Rate } from './arguments.ts';
import { wantKubeConfigTarget, writeKubeConfig } from './kubeconfig-file.ts';
import { listenForInterruption } from './signals.ts';

interface ApiserverFlags {
  readonly port: number;
  readonly kubeconfigOut: string;
  readonly token?: string;
  readonly tls: boolean;
  readonly host: string;
  readonly allowRemote?: boolean;
  readonly pods?: number;
  readonly objectBytes: number;
  readonly rate?: Rate;
}

/** A load without an end: it stops with the server. */
const LOAD_MS = 2 ** 31;

export function apiserverCommand(): Command {
  return new Command('apiserver')
    .description('run the embedded apiserver until SIGINT or SIGTERM')
    .requiredOption('--kubeconfig-out <file>', 'where to write the kubeconfig (mode 0600)')
    .option('--port <port>', '0: any free port', parsePort, 0)
    .option('--token <token>', 'the bearer token that clients must send (default: a random one)')
    .option('--no-tls', 'plain HTTP')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--allow-remote', 'allow an address that is not loopback')
    .option('--pods <count>', 'begin with so many sample pods', parsePods)
    .option('--object-bytes <bytes>', 'size of a sample pod', parseObjectBytes, 1024)
    .option('--rate <rate>', 'change pods so often a second, or "max"', parseRate)
    .action(runApiserver);
}

async function runApiserver(flags: ApiserverFlags): Promise<void> {
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
