/** `kubeloom top`: a live view of informers of this process, or of a program that calls `serveStats`. */
import { sleep } from '../../../base/sleep.ts';
import { InformerThreads, SharedIndexInformer } from '../../../index.ts';
import { KubeloomError } from '../../../base/errors.ts';
import { statsSnapshot } from '../../../metrics/index.ts';
import type { StatsSnapshot } from '../../../metrics/index.ts';
import { findResource } from '../../../kube/rest-mapper.ts';
import { ApiClient } from '../../../http/api-client.ts';
import { kubeConfigOf, selectionOf } from '../cluster.ts';
import type { TopFlags } from '../commands/top.ts';
import { listenForInterruption } from '../signals.ts';
import type { Interruption } from '../signals.ts';
import { addressText, readStats } from './top-source.ts';
import type { StatsAddress } from './top-source.ts';
import { topView } from './top-view.ts';

const PERIOD_MS = 1000;

export async function top(resources: readonly string[], flags: TopFlags): Promise<void> {
  const addresses: StatsAddress[] = [];
  if (flags.port !== undefined) addresses.push({ port: flags.port });
  if (flags.socket !== undefined) addresses.push({ socketPath: flags.socket });
  const [address] = addresses;
  if (addresses.length + Math.min(resources.length, 1) !== 1) {
    throw new KubeloomError(
      'ERR_KUBELOOM_USAGE',
      'name resources to watch, such as `kubeloom top pods nodes`, or one program with --port or --socket',
    );
  }
  using interruption = listenForInterruption();
  try {
    if (address) await attach(address, flags, interruption);
    else await watchAndShow(resources, flags, interruption);
  } catch (error) {
    // A failure because of the interruption is expected.
    if (!interruption.signal.aborted) throw error;
  }
}

async function watchAndShow(
  resources: readonly string[],
  flags: TopFlags,
  interruption: Interruption,
): Promise<void> {
  const { signal } = interruption;
  const kubeConfig = kubeConfigOf(flags);
  await using threads = new InformerThreads(
    flags.threads === undefined ? {} : { indexerThreads: flags.threads },
  );
  const client = new ApiClient(kubeConfig);
  const refs = await Promise.all(
    resources.map((resource) => findResource(resource, (path) => client.getJson(path, signal))),
  );
  const informers = refs.map(
    (ref) =>
      new SharedIndexInformer(kubeConfig, ref, {
        threads,
        ...selectionOf(kubeConfig, ref, flags),
        // The frame shows the errors.
        onError: () => undefined,
      }),
  );
  for (const informer of informers) informer.addEventHandler({ onUpdate: () => undefined });
  const runs = informers.map((informer) => informer.run({ signal }));
  const title = `kubeloom top · ${kubeConfig.getCurrentContext()}`;
  await Promise.race([show(title, async () => statsSnapshot(), flags, interruption), Promise.all(runs)]);
  interruption.stop();
  await Promise.all(runs);
}

/** @throws ERR_KUBELOOM_UNREACHABLE when the program cannot be reached; on a terminal only at the first read */
async function attach(address: StatsAddress, flags: TopFlags, interruption: Interruption): Promise<void> {
  const title = `kubeloom top · ${addressText(address)}`;
  await show(title, () => readStats(address, interruption.signal), flags, interruption);
}

/** Shows a snapshot each second until the command is interrupted. */
async function show(
  title: string,
  source: () => Promise<StatsSnapshot>,
  { json: isJson = false }: TopFlags,
  interruption: Interruption,
): Promise<void> {
  const { signal } = interruption;
  const first = await source().catch(unlessAborted(signal));
  if (!first) return;
  using view = topView(title, isJson, interruption);
  view.show(first);
  for (;;) {
    await sleep(PERIOD_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      view.show(await source());
    } catch (error) {
      if (!signal.aborted) view.lose(error);
    }
  }
}

function unlessAborted(signal: AbortSignal): (error: unknown) => undefined {
  return (error) => {
    if (!signal.aborted) throw error;
    return undefined;
  };
}
