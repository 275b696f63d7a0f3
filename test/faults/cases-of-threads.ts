/** Cases about other threads of the program that have the informer's cache. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Command } from '../unit/thread/reading-worker.ts';
import type { RealCase, Scene } from './scene.ts';
import { SharedCache } from '../../src/thread/index.ts';

const WORKER = new URL(`../unit/thread/reading-worker.js`, import.meta.url);
const ROUNDS = 3;

export const CASES_OF_THREADS: readonly RealCase[] = [
  {
    id: '83',
    place: 'threads',
    what: 'worker threads with the cache exit, throw, fill their heap and are terminated, while others attach',
    expected: 'nothing of theirs is left; the caches of the other threads are equal to the main one',
    run: dyingThreads,
  },
  {
    id: '84',
    place: 'threads',
    what: 'a worker thread with the cache blocks for ever, and the budget of backlogs is 1 MiB',
    expected: 'only its changes wait, and become one list; its termination releases everything',
    objects: 1000,
    threads: { backlogBytesMax: 2 ** 20 },
    codes: ['ERR_KUBELOOM_BACKLOG_COALESCED'],
    mayReport: ['ERR_KUBELOOM_SLOW_HANDLER'],
    // A slow machine may coalesce the notifications of the recorded handler as well.
    excused: ['I4b'],
    run: blockedThread,
  },
];

/** A worker thread with the cache, which ends with its case. */
class Thread implements AsyncDisposable {
  readonly worker: Worker;

  private constructor(worker: Worker) {
    this.worker = worker;
    // Its failure is the fault.
    worker.on('error', () => undefined);
  }

  static async attach(shared: SharedCache): Promise<Thread> {
    const port = shared.port();
    const { transferList } = port;
    const resourceLimits = { maxOldGenerationSizeMb: 32 };
    const thread = new Thread(new Worker(WORKER, { workerData: port, transferList, resourceLimits }));
    await once(thread.worker, 'message');
    return thread;
  }

  tell(command: Command): void {
    this.worker.postMessage(command);
  }

  async ask(command: Command): Promise<unknown> {
    const answer = once(this.worker, 'message');
    this.tell(command);
    const [value] = (await answer) as unknown[];
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.worker.terminate();
  }
}

async function dyingThreads(scene: Scene): Promise<string> {
  const { informer } = scene;
  await using shared = new SharedCache({ pods: informer });
  await using survivor = await Thread.attach(shared);
  for (let round = 0; round < ROUNDS; round++) {
    for (const type of ['exit', 'throw', 'fill the heap', 'terminate'] as const) {
      await using dying = await Thread.attach(shared);
      const exited = new Promise((resolve) => dying.worker.once('exit', resolve));
      if (type === 'terminate') await dying.worker.terminate();
      else dying.tell({ type });
      await exited;
      scene.own.push(type);
    }
  }
  await scene.until(() => shared.threads === 1, 'all but one thread have ended');
  scene.stopLoad();
  await scene.untilCurrent();
  const resourceVersion = informer.lastSyncResourceVersion();
  await survivor.ask({ type: 'wait', resourceVersion });
  const expected = informer
    .getIndexer()
    .list()
    .map(({ object }) => (object as { readonly metadata: unknown }).metadata);
  assert.deepEqual(byName(await survivor.ask({ type: 'list' })), byName(expected));
  return `${ROUNDS * 4} threads ended; ${expected.length} objects are equal in the other one`;
}

async function blockedThread(scene: Scene): Promise<string> {
  const { informer } = scene;
  await using shared = new SharedCache({ pods: informer });
  await using blocked = await Thread.attach(shared);
  await blocked.ask({ type: 'block' });
  // The ring has room for some 13,000 changes.
  scene.flood();
  scene.own.push('a thread blocks');
  const isItsOwn = (): boolean =>
    scene.errors.some(({ message }) => /handler a thread's cache/.test(message));
  await scene.until(isItsOwn, 'its backlog is coalesced');
  const { exportedStates } = shared;
  assert.ok(exportedStates > scene.cached, `${exportedStates} states are held for it`);
  await blocked.worker.terminate();
  await scene.until(() => shared.threads === 0 && shared.exportedStates === 0, 'everything is released');
  return `${exportedStates} states were held for the thread`;
}

function byName(metadata: unknown): readonly unknown[] {
  const all = [...(metadata as { readonly name: string }[])];
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}
