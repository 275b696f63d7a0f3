/** `kubeloom top`: a live view of informers of this process, or of a program that calls `serveStats`. */
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { InformerThreads, SharedIndexInformer, loadKubeConfig } from '../index.ts';
import { KubeloomError } from '../base/errors.ts';
import { statsSnapshot } from '../base/metrics/snapshot.ts';
import type { StatsSnapshot } from '../base/metrics/snapshot.ts';
import { findResource } from '../kube/rest-mapper.ts';
import { ApiClient } from '../reflector/api-client.ts';
import { parsePort, parseThreads } from './arguments.ts';
import { listenForInterruption } from './signals.ts';
import type { Interruption } from './signals.ts';
import { frame, plainLine, stepTop } from './top-frame.ts';
import type { TopInput, TopState } from './top-frame.ts';

interface TopFlags {
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly threads?: number;
  readonly port?: number;
  readonly socket?: string;
  readonly json?: boolean;
}

const PERIOD_MS = 1000;
/** Ctrl-C, which a terminal in raw mode sends as a character. */
const INTERRUPT = '\u0003';

type Source = () => Promise<StatsSnapshot>;

export function topCommand(): Command {
  return new Command('top')
    .description('show live figures of informers: of resources of a cluster, or of a running program')
    .argument('[resources...]', 'pods, deployments.apps, …')
    .option('-n, --namespace <name>', 'default: all namespaces')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one")
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .option('--port <port>', 'attach to a program on this machine that calls serveStats({ port })', parsePort)
    .option('--socket <path>', 'attach to a program that calls serveStats({ socketPath })')
    .option('--json', 'a JSON document each second')
    .action(top);
}

async function top(resources: readonly string[], flags: TopFlags): Promise<void> {
  using interruption = listenForInterruption();
  const isAttached = flags.port !== undefined || flags.socket !== undefined;
  if (isAttached === resources.length > 0) {
    throw new KubeloomError(
      'ERR_KUBELOOM_ARGUMENT',
      'name resources to watch, such as `kubeloom top pods nodes`, or a program with --port or --socket',
    );
  }
  if (isAttached) await show('kubeloom top', () => remoteSnapshot(flags), flags, interruption);
  else await watchAndShow(resources, flags, interruption);
}

async function watchAndShow(
  resources: readonly string[],
  flags: TopFlags,
  interruption: Interruption,
): Promise<void> {
  const { signal } = interruption;
  const kubeConfig = loadKubeConfig({
    ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
    ...(flags.context === undefined ? {} : { context: flags.context }),
  });
  await using threads = new InformerThreads(flags.threads === undefined ? {} : { shards: flags.threads });
  const client = new ApiClient(kubeConfig);
  const refs = await Promise.all(
    resources.map((resource) => findResource(resource, (path) => client.getJson(path, signal))),
  );
  const informers = refs.map(
    (ref) =>
      new SharedIndexInformer(kubeConfig, ref, {
        threads,
        ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
        // The frame shows them.
        onError: () => undefined,
      }),
  );
  for (const informer of informers) informer.addEventHandler({ onUpdate: () => undefined });
  const runs = informers.map((informer) => informer.run(signal));
  const title = `kubeloom top · ${kubeConfig.getCurrentContext()}`;
  await Promise.race([show(title, async () => statsSnapshot(), flags, interruption), Promise.all(runs)]);
  interruption.stop();
  await Promise.all(runs);
}

/** Shows a snapshot each second until the command is interrupted. */
async function show(
  title: string,
  source: Source,
  flags: TopFlags,
  interruption: Interruption,
): Promise<void> {
  using view = viewOf(title, flags, interruption);
  const { signal } = interruption;
  while (!signal.aborted) {
    view.take(await source());
    await delay(PERIOD_MS, undefined, { signal }).catch(() => undefined);
  }
}

interface View extends Disposable {
  take(snapshot: StatsSnapshot): void;
}

function viewOf(title: string, { json: isJson }: TopFlags, interruption: Interruption): View {
  const { stdout, stdin } = process;
  if (isJson === true) return printing((snapshot) => JSON.stringify(snapshot));
  let state: TopState = { title, sort: 'name', snapshots: [] };
  if (!stdout.isTTY) {
    return printing((snapshot) => plainLine((state = stepTop(state, { type: 'snapshot', snapshot }))));
  }
  const screen = createLogUpdate(stdout, { showCursor: false });
  const step = (input?: TopInput): void => {
    if (input) state = stepTop(state, input);
    screen(frame(state, stdout.columns, stdout.rows).join('\n'));
  };
  const onKey = (data: Buffer): void => {
    for (const key of data.toString()) {
      if (key === 'q' || key === INTERRUPT) interruption.stop();
      else step({ type: 'key', key });
    }
  };
  const onResize = (): void => step();
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on('data', onKey);
  stdout.on('resize', onResize);
  return {
    take: (snapshot) => step({ type: 'snapshot', snapshot }),
    [Symbol.dispose]: () => {
      stdout.off('resize', onResize);
      stdin.off('data', onKey);
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
      screen.done();
    },
  };
}

function printing(line: (snapshot: StatsSnapshot) => string): View {
  return {
    take: (snapshot) => void process.stdout.write(`${line(snapshot)}\n`),
    [Symbol.dispose]: () => undefined,
  };
}

async function remoteSnapshot({ port, socket }: TopFlags): Promise<StatsSnapshot> {
  const where = socket === undefined ? { host: '127.0.0.1', port } : { socketPath: socket };
  const sent = request({ ...where, path: '/stats.json', agent: false }).end();
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return (await json(response)) as StatsSnapshot;
  } catch (cause) {
    const address = socket ?? `port ${port}`;
    const message = `no figures from ${address}: the program must call serveStats() of kubeloom`;
    throw new KubeloomError('ERR_KUBELOOM_STATS_UNREACHABLE', message, { cause });
  }
}
