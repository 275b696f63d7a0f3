/** The shards' numbering of keys: every key has a shard, and in it a dense id, which is reused when it is free. */

export interface NumberedKey {
  readonly shard: number;
  readonly id: number;
  readonly isNew: boolean;
}

interface Numbering {
  readonly ids: Map<string, number>;
  readonly free: number[];
}

export class ShardModel {
  #shards: readonly Numbering[];

  constructor(shards: number) {
    this.#shards = Array.from({ length: shards }, () => ({ ids: new Map(), free: [] }));
  }

  /** Passes an object record of this key through its shard. */
  object(key: string, isDeletion: boolean): NumberedKey {
    const shard = Buffer.from(key).reduce((sum, byte) => sum + byte, 0) % this.#shards.length;
    const { ids, free } = this.#at(shard);
    const known = ids.get(key);
    const id = known ?? free.pop() ?? ids.size;
    if (isDeletion) {
      ids.delete(key);
      free.push(id);
    } else ids.set(key, id);
    return { shard, id, isNew: known === undefined };
  }

  /** Begins a list: no key has an id. */
  begin(): void {
    this.#shards = this.#shards.map(() => ({ ids: new Map(), free: [] }));
  }

  #at(shard: number): Numbering {
    const numbering = this.#shards[shard];
    if (!numbering) throw new RangeError(`shard ${shard}`);
    return numbering;
  }
}
