/**
 * The shards' numbering of keys: every key has a shard, and in it a dense id, which is reused when it is free. The
 * rules for when an id is free are the real ones.
 */
import { KeyStates, PASS_DONE } from '../../../../src/indexer/key-states.ts';

export interface NumberedKey {
  readonly shard: number;
  readonly id: number;
  readonly isNew: boolean;
}

interface Numbering {
  readonly ids: Map<string, number>;
  readonly free: number[];
  readonly states: KeyStates;
}

export class ShardModel {
  readonly #shards: readonly Numbering[];

  constructor(shards: number) {
    this.#shards = Array.from({ length: shards }, () => {
      const ids = new Map<string, number>();
      const free: number[] = [];
      const states = new KeyStates((id) => {
        for (const [key, other] of ids) if (other === id) ids.delete(key);
        free.push(id);
      });
      return { ids, free, states };
    });
  }

  /** Passes an object record of this key through its shard. */
  object(key: string, isDeletion: boolean): NumberedKey {
    const shard = Buffer.from(key).reduce((sum, byte) => sum + byte, 0) % this.#shards.length;
    const { ids, free, states } = this.#at(shard);
    const known = ids.get(key);
    const id = known ?? free.pop() ?? ids.size + free.length;
    ids.set(key, id);
    if (!isDeletion) {
      states.put(id, 1);
    } else if (states.delete(id, 1)) {
      ids.delete(key);
      free.push(id);
    }
    return { shard, id, isNew: known === undefined };
  }

  begin(epoch: number): void {
    this.#pass((states) => states.begin(epoch));
  }

  abort(epoch: number): void {
    this.#pass((states) => states.abort(epoch));
  }

  /** Returns the ids that each shard reports because the relist did not contain them. */
  end(epoch: number): readonly { readonly shard: number; readonly id: number }[] {
    return this.#pass((states) => states.end(epoch));
  }

  #pass(start: (states: KeyStates) => void): { shard: number; id: number }[] {
    const swept: { shard: number; id: number }[] = [];
    for (const [shard, { states }] of this.#shards.entries()) {
      start(states);
      for (let id = states.next(1e9); id !== PASS_DONE; id = states.next(1e9)) swept.push({ shard, id });
    }
    return swept;
  }

  #at(shard: number): Numbering {
    const numbering = this.#shards[shard];
    if (!numbering) throw new RangeError(`shard ${shard}`);
    return numbering;
  }
}
