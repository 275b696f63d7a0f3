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
import { NO_ROW } from '../../../../src/replica/store/columns.ts';
import type { EntryTable } from '../../../../src/replica/store/entry-table.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import type { Indexers } from '../../../../src/replica/store/index-functions.ts';
import { IndexSet } from '../../../../src/replica/store/replica-state.ts';
import { ReplicaIndexer } from '../../../../src/replica/store/indexer.ts';
import type { ScanPace } from '../../../../src/replica/store/scan.ts';
import { Replica } from '../../../../src/replica/store/replica.ts';
import type { ReplicaListener } from '../../../../src/replica/store/replica.ts';
import { identityOf, newEntry, newOwner } from './objects.ts';
import type { ObjectSpec } from './objects.ts';
import { ShardModel } from './shard-model.ts';

export interface ScriptOptions {
  readonly indexers?: Indexers;
  readonly fields?: readonly string[];
  /** Listener instead of the recorder. */
  readonly listener?: ReplicaListener;
  readonly pace?: ScanPace;
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

  constructor({ indexers = {}, fields = [], listener, pace }: ScriptOptions = {}) {
    this.owner = newOwner({ fields });
    const { table } = this.owner;
    const indexes = new IndexSet(table, indexers, fields.length, (error, key) =>
      this.errors.push({ error, key }),
    );
    this.replica = new Replica(table, 2, indexes, listener ?? recorder(table, this.log));
    this.indexer = new ReplicaIndexer(this.replica, indexes, undefined, undefined, pace);
  }

  put(...specs: ObjectSpec[]): void {
    for (const spec of specs) {
      const numbered = this.#shards.object(identityOf(spec).key, false);
      this.replica.upsert(numbered.shard, numbered.id, this.#row(spec));
    }
  }

  remove(spec: ObjectSpec): void {
    this.#shards.object(identityOf(spec).key, true);
    this.replica.remove(this.#row(spec));
  }

  begin(): void {
    this.#shards.begin();
    this.replica.control(DeltaKind.ReplaceBegin, ++this.#epoch, '');
  }

  /** Lists items: unchanged ones keep their entries. */
  list(...specs: ObjectSpec[]): void {
    for (const spec of specs) {
      const { key } = identityOf(spec);
      const { shard, id } = this.#shards.object(key, false);
      const isUnchanged = this.get(key)?.version === spec.version;
      if (isUnchanged) this.replica.keep(shard, id, this.replica.live.get(key));
      else this.replica.upsert(shard, id, this.#row(spec));
    }
  }

  end(resourceVersion = '1000'): void {
    while (!this.replica.control(DeltaKind.ReplaceEnd, this.#epoch, resourceVersion));
  }

  abort(): void {
    this.replica.control(DeltaKind.ReplaceAbort, this.#epoch, '');
  }

  relist(...specs: ObjectSpec[]): void {
    this.begin();
    this.list(...specs);
    this.end();
  }

  get(key: string): Entry | undefined {
    const row = this.replica.rowByKey(key);
    return row === NO_ROW ? undefined : this.owner.table.open(row);
  }

  /** Disposes of everything; true when the slabs hold only what is cached. */
  dispose(): boolean {
    while (this.replica.dispose());
    const { live, table } = this.replica;
    const cached = [...live.ordinals()].reduce(
      (sum, ordinal) => sum + table.lengthOf(live.rowAt(ordinal)),
      0,
    );
    return this.owner.slabs.liveBytes === cached;
  }

  takeLog(): string[] {
    return this.log.splice(0);
  }

  #row(spec: ObjectSpec): number {
    return newEntry(this.owner, spec).row;
  }
}

/** Appends every notification to `log`, with `isResyncDue` also updates without a change. */
export function recorder(table: EntryTable, log: string[], isResyncDue: boolean = true): ReplicaListener {
  return {
    changed: (oldRow, newRow) => log.push(line(deliveryOf(table, oldRow, newRow))),
    replaced: (difference) => log.push(...lines(difference.cursor(isResyncDue))),
  };
}

/** Returns an update, an add or a deletion of these rows, one of which may be `NO_ROW`. */
export function deliveryOf(table: EntryTable, oldRow: number, newRow: number): Delivery {
  return { ...emptyDelivery(), oldEntry: table.entryOf(oldRow), newEntry: table.entryOf(newRow) };
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
