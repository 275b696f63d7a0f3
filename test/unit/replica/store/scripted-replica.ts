/**
 * A replica for tests of a sequence of steps: objects by name, notifications as short lines of text.
 *
 * ```
 *  add a@1   add! a@1 (in the initial list)   update a@1>2   delete a@3   lost a@2 (found missing by a relist)
 * ```
 */
import type { KubeloomError } from '../../../../src/base/errors.ts';
import { DeltaKind } from '../../../../src/shared/record/delta.ts';
import { emptyDelivery } from '../../../../src/replica/store/deliveries.ts';
import type { Delivery, DeliveryCursor } from '../../../../src/replica/store/deliveries.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import type { Indexers } from '../../../../src/replica/store/index-functions.ts';
import { IndexSet } from '../../../../src/replica/store/replica-state.ts';
import { ReplicaIndexer } from '../../../../src/replica/store/indexer.ts';
import { Replica } from '../../../../src/replica/store/replica.ts';
import type { ReplicaListener } from '../../../../src/replica/store/replica.ts';
import { identityOf, newEntry, newOwner } from './objects.ts';
import type { ObjectSpec } from './objects.ts';
import { ShardModel } from './shard-model.ts';
import type { NumberedKey } from './shard-model.ts';

export interface ScriptOptions {
  readonly indexers?: Indexers;
  readonly fields?: readonly string[];
  /** Listener instead of the recorder. */
  readonly listener?: ReplicaListener;
}

export class ScriptedReplica {
  readonly owner: EntryOwner;
  readonly replica: Replica;
  readonly indexer: ReplicaIndexer<unknown>;
  /** Notifications since the last `take`. */
  readonly log: string[] = [];
  readonly errors: { readonly error: KubeloomError; readonly key: string }[] = [];
  readonly #shards: ShardModel = new ShardModel(2);
  #epoch = 0;

  constructor({ indexers = {}, fields = [], listener }: ScriptOptions = {}) {
    this.owner = newOwner({ fields });
    const indexes = new IndexSet(indexers, fields.length, (error, key) => this.errors.push({ error, key }));
    this.replica = new Replica(2, indexes, listener ?? recorder(this.log));
    this.indexer = new ReplicaIndexer(this.replica, indexes);
  }

  put(...specs: ObjectSpec[]): void {
    for (const spec of specs) {
      const numbered = this.#shards.object(identityOf(spec).key, false);
      this.replica.upsert(numbered.shard, numbered.id, this.#entry(spec, numbered));
    }
  }

  remove(spec: ObjectSpec): void {
    const numbered = this.#shards.object(identityOf(spec).key, true);
    this.replica.remove(this.#entry(spec, numbered));
  }

  begin(): void {
    this.#shards.begin(++this.#epoch);
    this.replica.control(DeltaKind.ReplaceBegin, this.#epoch, '');
  }

  /** Lists items: unchanged ones keep their entries. */
  list(...specs: ObjectSpec[]): void {
    for (const spec of specs) {
      const { key } = identityOf(spec);
      const numbered = this.#shards.object(key, false);
      const { shard, id } = numbered;
      const live = this.replica.live.get(key);
      const isUnchanged = live?.entry.version === spec.version;
      if (isUnchanged) this.replica.keep(shard, id, live);
      else this.replica.upsert(shard, id, this.#entry(spec, numbered));
    }
  }

  end(resourceVersion = '1000'): void {
    for (const { shard, id } of this.#shards.end(this.#epoch)) this.replica.swept(shard, id);
    this.replica.control(DeltaKind.ReplaceEnd, this.#epoch, resourceVersion);
  }

  abort(): void {
    this.#shards.abort(this.#epoch);
    this.replica.control(DeltaKind.ReplaceAbort, this.#epoch, '');
  }

  relist(...specs: ObjectSpec[]): void {
    this.begin();
    this.list(...specs);
    this.end();
  }

  get(key: string): Entry | undefined {
    return this.replica.live.get(key)?.entry;
  }

  /** Disposes of everything; true when the slabs hold only what is cached. */
  dispose(): boolean {
    while (this.replica.dispose());
    const cached = [...this.replica.live.slots()].reduce((sum, { entry }) => sum + entry.length, 0);
    return this.owner.slabs.liveBytes === cached;
  }

  takeLog(): string[] {
    return this.log.splice(0);
  }

  /** All states of an object share its identity. */
  #entry(spec: ObjectSpec, { shard, id, isNew }: NumberedKey): Entry {
    const { key } = identityOf(spec);
    const slot = isNew ? this.replica.live.get(key) : this.replica.slotOf(shard, id);
    return newEntry(this.owner, spec, slot ? { identity: slot.entry.identity } : {});
  }
}

/** Appends every notification to `log`, with `isResyncDue` also updates without a change. */
export function recorder(log: string[], isResyncDue: boolean = true): ReplicaListener {
  return {
    changed: (oldEntry, newEntry) => log.push(line({ ...emptyDelivery(), oldEntry, newEntry })),
    replaced: (difference) => log.push(...lines(difference.cursor(isResyncDue))),
  };
}

/** Reads a cursor to its end, or `count` deliveries of it. */
export function lines(cursor: DeliveryCursor, count: number = Infinity): string[] {
  const all: string[] = [];
  const out = emptyDelivery();
  while (all.length < count && cursor.next(out)) {
    if (!out.oldEntry && !out.newEntry) continue;
    all.push(line(out));
    out.oldEntry?.dropReference();
    out.newEntry?.dropReference();
  }
  return all;
}

export function line({ oldEntry, newEntry, isInInitialList, isFinalStateUnknown }: Delivery): string {
  if (newEntry && oldEntry) return `update ${oldEntry.key}@${oldEntry.version}>${newEntry.version}`;
  if (newEntry) return `add${isInInitialList ? '!' : ''} ${newEntry.key}@${newEntry.version}`;
  return `${isFinalStateUnknown ? 'lost' : 'delete'} ${oldEntry?.key}@${oldEntry?.version}`;
}
