/** A thread of the soak that reads the main thread's cache: it records the notifications of each window. */
import { parentPort } from 'node:worker_threads';
import { openCache } from '../../src/thread/index.ts';
import type { CachePort, ThreadCache } from '../../src/thread/index.ts';
import type { HandlerRegistration } from '../../src/index.ts';
import type { Histories } from '../../test/sim/oracle/histories.ts';
import { Recorder } from '../../test/sim/oracle/recorder.ts';
import { joinHandlers } from './window-handlers.ts';

export type AttachedCommand =
  /** Opens the port, in place of the former one, and resolves when the cache has synced. */
  | { readonly type: 'open'; readonly port: CachePort }
  /** Adds the handlers of a window. */
  | { readonly type: 'begin'; readonly window: number }
  /** Ends the window at this version, and answers with its histories. */
  | { readonly type: 'end'; readonly resourceVersion: string }
  /** Closes the cache after its last window, and collects garbage. */
  | { readonly type: 'rest'; readonly isOver: boolean };

interface Types extends Readonly<Record<string, unknown>> {
  readonly pods: unknown;
}

let recorder: Recorder;
let cache: ThreadCache<Types> | undefined;
let registrations: readonly HandlerRegistration[] = [];

async function open(port: CachePort): Promise<void> {
  await cache?.close();
  cache = await openCache<Types>(port, { onError: (error) => recorder.report(error) });
  await cache.informer('pods').waitForSync();
}

async function end(opened: ThreadCache<Types>, resourceVersion: string): Promise<Histories> {
  const pods = opened.informer('pods');
  await pods.waitForResourceVersion(resourceVersion);
  while (registrations.some(({ backlog }) => backlog.notifications > 0)) await new Promise(setImmediate);
  recorder.look();
  recorder.snapshot(pods, true);
  await Promise.all(registrations.map((registration) => pods.shutDownEventHandler(registration)));
  return recorder.histories;
}

async function take(command: AttachedCommand): Promise<Histories | undefined> {
  if (command.type === 'open') await open(command.port);
  if (!cache) throw new Error('the thread has no cache');
  if (command.type === 'end') return await end(cache, command.resourceVersion);
  if (command.type === 'begin') {
    recorder = new Recorder();
    const pods = cache.informer('pods');
    recorder.informer(pods, { hasBodies: false, mayRepeat: true });
    registrations = joinHandlers(pods, recorder, command.window, () => undefined);
  }
  if (command.type === 'rest') {
    if (command.isOver) await cache.close();
    globalThis.gc?.();
  }
  return undefined;
}

// An error ends the thread, and the soak with it.
parentPort?.on('message', (command: AttachedCommand) => {
  void take(command).then((answer) => parentPort?.postMessage(answer));
});
