/** The lane of the pipeline, with threads or in-process: a SharedIndexInformer whose handler holds the changes. */
import { SharedIndexInformer } from '../../../../src/index.ts';
import type { Borrowed, Codec, DeletedFinalStateUnknown, InformerThreads } from '../../../../src/index.ts';
import { FakeClock, settled } from '../../../../src/tools/apiserver/testing/index.ts';
import { PODS } from '../../../kit/objects.ts';
import { textOf } from '../queue/notation.ts';
import type { TestObject } from '../queue/notation.ts';
import { RESYNC_PERIOD_MS, turn } from './lane.ts';
import type { Lane } from './lane.ts';
import { SteppedSource } from './stepped-source.ts';
import type { Lists } from './stepped-source.ts';
import { HeldHandler } from './held-handler.ts';

export interface PipelineLaneOptions {
  readonly threads: InformerThreads;
  readonly codec: Codec;
  readonly lists: Lists;
  /** True: nothing is held, and the server does not wait, so chance decides how far each change has come. */
  readonly isHurried?: boolean;
}

/** Records entries. Their text is read when the handler is called. */
class HeldEntryHandler {
  readonly inner: HeldHandler = new HeldHandler();

  onAdd(object: Borrowed<TestObject>, isInInitialList: boolean): Promise<void> {
    return this.inner.onAdd(object.object, isInInitialList);
  }

  onUpdate(old: Borrowed<TestObject>, object: Borrowed<TestObject>): Promise<void> {
    return this.inner.onUpdate(old.object, object.object);
  }

  onDelete(deleted: Borrowed<TestObject> | DeletedFinalStateUnknown<TestObject>): Promise<void> {
    const { finalStateUnknown } = deleted;
    const last = finalStateUnknown ? deleted.last : deleted;
    return this.inner.recordDeletion(`${textOf(last.object)}${finalStateUnknown ? '?' : ''}`);
  }
}

export function pipelineLane({ threads, codec, lists, isHurried = false }: PipelineLaneOptions): Lane {
  const clock = new FakeClock();
  const source = new SteppedSource(lists, turn);
  const handler = new HeldEntryHandler();
  const informer = new SharedIndexInformer<TestObject>(source, PODS, {
    threads,
    codec,
    clock,
    resyncPeriodMs: RESYNC_PERIOD_MS,
    backoff: { initialMs: 1, maxMs: 1 },
    // Every relist begins with an error, which is not under test here.
    onError: () => undefined,
  });
  informer.addEventHandler(handler);
  const running = informer.run();
  const hold = (): void => (isHurried ? undefined : handler.inner.hold());
  hold();
  return {
    source,
    clock,
    calls: handler.inner.calls,
    stored: () =>
      informer
        .getStore()
        .list()
        .map(({ name, resourceVersion }) => `${name}@${resourceVersion}`),
    async arrived(version) {
      if (isHurried) return;
      while (informer.lastSyncResourceVersion() !== version) await turn();
    },
    async process() {
      handler.inner.letGo();
      await settled(informer);
      hold();
    },
    async stop() {
      handler.inner.letGo();
      await informer.shutdown();
      await running;
    },
  };
}
