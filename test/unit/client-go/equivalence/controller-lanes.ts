/**
 * The lanes of client-go's lower layers: a Controller over each queue, and the plain informer. The clock advances
 * only for the delays of the reflector.
 */
import { deletionHandlingMetaNamespaceKeyFunc } from '../../../../src/kube/keys.ts';
import { newIndexer } from '../../../../src/client-go/cache/indexed-store.ts';
import { newController } from '../../../../src/client-go/controller/controller.ts';
import { newInformerWithOptions } from '../../../../src/client-go/controller/informer.ts';
import { processDeltas } from '../../../../src/client-go/controller/process-deltas.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';
import { textOf } from '../queue/notation.ts';
import type { TestObject } from '../queue/notation.ts';
import { queueOf } from '../queue/replay.ts';
import type { Mode } from '../queue/replay.ts';
import { held } from './held-queue.ts';
import { RESYNC_PERIOD_MS, turn } from './lane.ts';
import type { Lane } from './lane.ts';
import { SteppedSource } from './stepped-source.ts';
import type { Lists } from './stepped-source.ts';
import { HeldHandler } from './held-handler.ts';

/** Far below the resync period, however often the reflector waits. */
const BACKOFF = { initialMs: 1, maxMs: 1, jitter: 0 };

/** Returns a lane of a Controller over one of the queues; queued changes are held before they are popped. */
export function controllerLane(mode: Mode, lists: Lists): Lane {
  const { clock, source, common } = given(lists);
  const store = newIndexer<TestObject>(deletionHandlingMetaNamespaceKeyFunc, {});
  const { queue, popped, release } = held(queueOf(mode, store));
  const handler = new HeldHandler();
  const controller = newController<TestObject, Parameters<typeof processDeltas<TestObject>>[2]>({
    ...common,
    queue,
    listerWatcher: source,
    fullResyncPeriodMs: RESYNC_PERIOD_MS,
    process: (deltas, isInInitialList) => processDeltas(handler, store, deltas, isInInitialList),
  });
  const stopping = new AbortController();
  const running = controller.run({ signal: stopping.signal });
  return {
    source,
    clock,
    calls: handler.calls,
    popped,
    stored: () => store.list().map(textOf),
    arrived: (version) => arrived(() => controller.lastSyncResourceVersion() === version, clock),
    process: release,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Returns a lane of `newInformer`. Its queue is internal, so its handler holds the changes. */
export function plainInformerLane(lists: Lists): Lane {
  const { clock, source, common } = given(lists);
  const handler = new HeldHandler();
  const { store, controller } = newInformerWithOptions<TestObject>({
    ...common,
    listerWatcher: source,
    handler,
    resyncPeriodMs: RESYNC_PERIOD_MS,
  });
  const stopping = new AbortController();
  const running = controller.run({ signal: stopping.signal });
  handler.hold();
  return {
    source,
    clock,
    calls: handler.calls,
    stored: () => store.list().map(textOf),
    arrived: (version) => arrived(() => controller.lastSyncResourceVersion() === version, clock),
    async process() {
      handler.letGo();
      // A bookmark passes through the whole queue; a second one restores the version.
      for (const version of [`${source.version}00`, source.version]) {
        await source.perform(['bookmark', version]);
        await arrived(() => store.lastStoreSyncResourceVersion() === version, clock);
      }
      handler.hold();
    },
    async stop() {
      handler.letGo();
      stopping.abort();
      await running;
    },
  };
}

function given(lists: Lists): {
  readonly clock: FakeClock;
  readonly source: SteppedSource;
  readonly common: object;
} {
  const clock = new FakeClock();
  const source = new SteppedSource(lists, () => tick(clock));
  const watchErrorHandler = (): void => undefined;
  return { clock, source, common: { clock, random: () => 0, backoff: BACKOFF, watchErrorHandler } };
}

async function arrived(isThere: () => boolean, clock: FakeClock): Promise<void> {
  while (!isThere()) await tick(clock);
}

/** Advances the clock of the reflector's backoff. Nothing else is ever due. */
async function tick(clock: FakeClock): Promise<void> {
  const { nextDelayMs = RESYNC_PERIOD_MS } = clock;
  if (nextDelayMs <= BACKOFF.maxMs) clock.advance(nextDelayMs);
  await turn();
}
