/** Threads that die at any store to shared memory: what they had written by then is there, and the rest never comes. */
import { Word } from '../../src/ring/word.ts';

/** Stores until the next death; negative: nobody dies. */
let storesLeft = -1;
let isMortal = false;

type Store = (this: Word, value: number) => void;

const store = Object.getOwnPropertyDescriptor(Word.prototype, 'store')?.value as Store;

Word.prototype.store = function storeOrDie(this: Word, value: number): void {
  if (isMortal && storesLeft >= 0 && storesLeft-- === 0) throw new Error('died');
  store.call(this, value);
};

/** Whoever makes this many more stores in a turn of a thread other than the main one. */
export function dieAfter(stores: number): void {
  storesLeft = stores;
}

export function nobodyDies(): void {
  storesLeft = -1;
}

/** A turn of a thread that may die in it. */
export function mortal(turn: () => void): void {
  isMortal = true;
  try {
    turn();
  } finally {
    isMortal = false;
  }
}
