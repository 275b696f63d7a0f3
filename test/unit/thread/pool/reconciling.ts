/**
 * The module of a pool's threads in tests: a key is `ns/NAME-number`, and NAME is what the reconciliation does. Shared
 * memory shows which thread has which key.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { getEnvironmentData, threadId } from 'node:worker_threads';
import { TerminalError } from '../../../../src/thread/index.ts';
import type { ReconcileResult, ThreadReconcile } from '../../../../src/thread/index.ts';
import type { Pod } from '../../informer/scene.ts';

/** Words of the shared memory. */
export const OVERLAPS = 0;
export const BEGUN = 1;
/** 1: threads that had `background` throw. */
export const THROW = 2;
/** `hold` and `fall` block their thread while it is 0. */
export const RELEASED = 3;
export const FIRST_OWNER = 4;

const words = getEnvironmentData('reconciling') as Int32Array | undefined;

function begin(owner: number): void {
  if (!words) return;
  if (Atomics.exchange(words, owner, threadId) !== 0) Atomics.add(words, OVERLAPS, 1);
  Atomics.add(words, BEGUN, 1);
  Atomics.notify(words, BEGUN);
}

function end(owner: number): void {
  if (words) Atomics.store(words, owner, 0);
}

/** Throws when the main thread asks for it: it has the result by then. */
function throwLater(): void {
  if (words && Atomics.load(words, THROW) !== 0) throw new Error('outside of a reconciliation');
  setImmediate(throwLater);
}

function fillHeap(): never {
  const all: number[][] = [];
  for (;;) all.push(Array.from({ length: 1e5 }, () => all.length));
}

const reconcile: ThreadReconcile<{ pods: Pod }> = async (key, { cache, signal }) => {
  const [, action = '', number = '0'] = /^ns\/([a-z]+)-?(\d*)$/.exec(key) ?? [];
  const owner = FIRST_OWNER + Number(number);
  begin(owner);
  try {
    switch (action) {
      case 'throw':
        throw Object.assign(new TypeError('a wrong type'), { code: 'ERR_OF_ANOTHER', status: 409 });
      case 'terminal':
        throw new TerminalError('it cannot work');
      case 'coded':
        cache.informer('pods').getIndexer().indexKeys('none', '');
        return undefined;
      case 'requeue':
        return { requeueAfterMs: 5 };
      case 'result':
        return { requeueAfterMs: () => 5 } as unknown as ReconcileResult;
      case 'answer':
        return { kind: 'Pod', metadata: {} } as ReconcileResult;
      case 'delay':
        await delay(600_000, undefined, { signal });
        return undefined;
      case 'read':
        // The message of the error shows what the thread's cache has.
        throw new Error(cache.informer('pods').getIndexer().getByKey(key)?.labels['version'] ?? 'none');
      case 'exit':
        end(owner);
        process.exit(3);
      // falls through
      case 'background':
        throwLater();
        return undefined;
      case 'heap':
        fillHeap();
      // falls through
      case 'hold':
      case 'fall':
        if (words) Atomics.wait(words, RELEASED, 0);
        if (action === 'fall') process.exit(3);
        return undefined;
      case 'block':
        for (;;);
      case 'wait':
        await new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
        return undefined;
      default:
        for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
        return undefined;
    }
  } finally {
    end(owner);
  }
};

export default reconcile;
