/**
 * The shards' numbering of keys: every key has a shard, and in it a dense id, which is reused when it is free. The
 * rules for when an id is free are the real ones.
 */
import { PASS_DONE, RelistMarks } from '../../../../src/indexer/relist-marks.ts';

export interface NumberedKey {
  readonly shard: number;
  readonly id: number;
  readonly isNew: boolean;
}

interface Numbering {
  readonly ids: Map<string, number>;
  readonly free: number[];
  readonly marks: RelistMarks;
}

export class ShardModel {
  readonly #shards: readonly Numbering[];

  constructor(shards: number) {
    this.#shards = Array.from({ length: shards }, () => {
      const ids = new Map<string, number>();
      const free: number[] = [];
      const marks = new RelistMarks((id) => {
        for (const [key, other] of ids) if (other === id) ids.delete(key);
        free.push(id);
      });
      return { ids, free, marks };
    });
  }

  /** Passes an object record of this key through its shard. */
  object(key: string, isDeletion: boolean): NumberedKey {
    const shard = Buffer.from(key).reduce((sum, byte) => sum + byte, 0) % this.#shards.length;
    const { ids, free, marks } = this.#at(shard);
    const known = ids.get(key);
    const id = known ?? free.pop() ?? ids.size + free.length;
    ids.set(key, id);
    if (!isDeletion) {
      marks.mark(id);
    } else if (marks.unmark(id)) {
      ids.delete(key);
      free.push(id);
    }
    return { shard, id, isNew: known === undefined };
  }

  begin(epoch: number): void {
    this.#pass((marks) => marks.begin(epoch));
  }

  abort(epoch: number): void {
    this.#pass((marks) => marks.abort(epoch));
  }

  /** Returns the ids that each shard reports because the relist did not contain them. */
  end(epoch: number): readonly { readonly shard: number; readonly id: number }[] {
    return this.#pass((marks) => marks.end(epoch));
  }

  #pass(start: (marks: RelistMarks) => void): { shard: number; id: number }[] {
    const swept: { shard: number; id: number }[] = [];
    for (const [shard, { marks }] of this.#shards.entries()) {
      start(marks);
      for (let id = marks.next(1e9); id !== PASS_DONE; id = marks.next(1e9)) swept.push({ shard, id });
    }
    return swept;
  }

  #at(shard: number): Numbering {
    const numbering = this.#shards[shard];
    if (!numbering) throw new RangeError(`shard ${shard}`);
    return numbering;
  }
}
