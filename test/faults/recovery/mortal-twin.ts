/**
 * Reflector and shards on this thread, one of which ends at its n-th store to shared memory. Other threads see only
 * such stores, so all values of n cover every state in which a thread can leave the memory.
 *
 * An exception stops a shard there. Sockets and timers call a reflector, so it does not stop at once: from there on
 * none of its stores has an effect, and it is killed in the next task.
 */
import assert from 'node:assert/strict';
import { Shard } from '../../../src/indexer/shard.ts';
import { Router } from '../../../src/reflector/router.ts';
import { Word } from '../../../src/shared/ring/word.ts';
import type { Role } from '../../../src/informer/threads/backend.ts';
import { allocatePipeline } from '../../../src/shared/pipeline-layout.ts';
import { InformerThreads } from '../../../src/informer/threads/informer-threads.ts';
import { InProcessBackend } from '../../../src/informer/threads/in-process-backend.ts';

const MIB = 2 ** 20;
const SHARDS = 2;
/** First sequence, chosen so that the history crosses the wrap of u32. */
const FIRST_SEQUENCE: number = 2 ** 32 - 12;

export interface Death {
  readonly role: Role;
  /** Number of the store before which it ends; 1 is the first. */
  readonly atStore: number;
}

export class MortalTwin implements AsyncDisposable {
  readonly threads: InformerThreads;
  #backend: InProcessBackend | undefined;
  readonly #death: Death;
  #stores = 0;
  #isFrozen = false;
  #hasDied = false;
  #acting: Role | undefined;
  readonly #restore: readonly (() => void)[];
  /** All shards so far, by number. */
  readonly #shards: Map<object, number> = new Map();

  constructor(death: Death) {
    this.#death = death;
    this.#restore = this.#wrapAll();
    this.threads = new InformerThreads(
      { indexerThreads: 0, logBytes: 16 * MIB },
      {
        memory: allocatePipeline(SHARDS, 16 * MIB, 64 * 1024, FIRST_SEQUENCE),
        backend: (...args) => (this.#backend = new InProcessBackend(...args)),
      },
    );
  }

  /** Whether the history had that number of stores. */
  get hasDied(): boolean {
    return this.#hasDied;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const restore of this.#restore) restore();
    await this.threads.close();
  }

  #wrapAll(): (() => void)[] {
    const storing: Around = (_self, proceed) => (this.#mayStore() ? proceed() : undefined);
    return [
      wrap(Word.prototype, 'store', storing),
      wrap(Word.prototype, 'increment', storing),
      wrap(Shard.prototype, 'doWork', (shard, proceed) => this.#as(this.#numberOf(shard), proceed)),
      wrap(Router.prototype, 'commit', (_self, proceed) => this.#as('reflector', proceed)),
    ];
  }

  /** Returns a shard's number. Shards take their turns in order, also new ones after a death. */
  #numberOf(shard: object): number {
    const known = this.#shards.get(shard);
    if (known !== undefined) return known;
    const number = this.#shards.size % SHARDS;
    this.#shards.set(shard, number);
    return number;
  }

  #as<T>(role: Role, act: () => T): T {
    this.#acting = role;
    try {
      return act();
    } finally {
      this.#acting = undefined;
    }
  }

  #mayStore(): boolean {
    const { role, atStore } = this.#death;
    if (this.#acting !== role) return true;
    if (this.#isFrozen) return false;
    if (this.#hasDied || ++this.#stores < atStore) return true;
    this.#hasDied = true;
    if (role !== 'reflector') throw new Error(`${role} dies before its store ${atStore}`);
    this.#isFrozen = true;
    queueMicrotask(() => {
      this.#backend?.kill('reflector');
      this.#isFrozen = false;
    });
    return false;
  }
}

export type Around = (self: object, proceed: () => unknown) => unknown;

/** Wraps a method; returns a function that restores it. */
export function wrap(prototype: object, name: string, around: Around): () => void {
  const original: unknown = Reflect.get(prototype, name);
  assert.ok(typeof original === 'function');
  Reflect.set(prototype, name, function (this: object, ...args: unknown[]): unknown {
    return around(this, () => Reflect.apply(original, this, args));
  });
  return () => Reflect.set(prototype, name, original);
}
