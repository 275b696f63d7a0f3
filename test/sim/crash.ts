/** Threads that die at any store to shared memory. Their earlier stores remain; the later ones never happen. */
import { Word } from '../../src/shared/ring/word.ts';

/** Number of stores until the next death; negative for none. */
let storesLeft = -1;
let isCrashable = false;

type Store = (this: Word, value: number) => void;

const store = Object.getOwnPropertyDescriptor(Word.prototype, 'store')?.value as Store;

Word.prototype.store = function storeOrCrash(this: Word, value: number): void {
  if (isCrashable && storesLeft >= 0 && storesLeft-- === 0) throw new Error('died');
  store.call(this, value);
};

/** Ends the thread that makes this many more stores, except the main one. */
export function crashAfter(stores: number): void {
  storesLeft = stores;
}

export function cancelCrash(): void {
  storesLeft = -1;
}

/** Runs a turn of a thread that may die in it. */
export function crashable(turn: () => void): void {
  isCrashable = true;
  try {
    turn();
  } finally {
    isCrashable = false;
  }
}
