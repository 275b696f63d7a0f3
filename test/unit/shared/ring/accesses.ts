/**
 * Observes every access of this thread to a shared word: the code calls `Atomics`, which can be replaced. Plain
 * reads and writes are not observed: the words order them by the protocol, and that is under test.
 */

export type AccessKind = 'load' | 'store' | 'add' | 'notify' | 'wait';

export interface Access {
  readonly kind: AccessKind;
  /** Address of the word in its buffer. */
  readonly address: number;
}

/** Undefined: the access is made as usual. */
export type WaitResult = ReturnType<typeof Atomics.wait> | undefined;

export interface Observer {
  /** Called before the access; the access throws its error. */
  before(access: Access): void;
  /** Called in place of a wait that would block. */
  wait(words: Int32Array, index: number, seen: number, address: number): WaitResult;
}

/** Calls `body` while the observer sees every access of this thread. */
export function observed<R>(observer: Observer, body: () => R): R {
  const { load, store, add, notify, wait } = Atomics;
  const see = (kind: AccessKind, words: Int32Array, index: number): number => {
    const address = words.byteOffset + index * Int32Array.BYTES_PER_ELEMENT;
    observer.before({ kind, address });
    return address;
  };
  const own = {
    load: (words: Int32Array, index: number) => (see('load', words, index), load(words, index)),
    store: (words: Int32Array, index: number, value: number) => (
      see('store', words, index),
      store(words, index, value)
    ),
    add: (words: Int32Array, index: number, value: number) => (
      see('add', words, index),
      add(words, index, value)
    ),
    notify: (words: Int32Array, index: number) => (see('notify', words, index), notify(words, index)),
    wait: (words: Int32Array, index: number, seen: number, timeoutMs?: number) => {
      const address = see('wait', words, index);
      return observer.wait(words, index, seen, address) ?? wait(words, index, seen, timeoutMs);
    },
  };
  try {
    Object.assign(Atomics, own);
    return body();
  } finally {
    Object.assign(Atomics, { load, store, add, notify, wait });
  }
}

/** Thrown at the access at which a thread dies. */
export class Killed extends Error {}

/** Runs `body` up to its access number `last`, counted from 0; false when it ended before. */
export function killedAt(last: number, body: () => void): boolean {
  let made = 0;
  const before = (): void => {
    if (made++ === last) throw new Killed();
  };
  try {
    observed({ before, wait: () => 'timed-out' }, body);
    return false;
  } catch (error) {
    if (error instanceof Killed) return true;
    throw error;
  }
}
