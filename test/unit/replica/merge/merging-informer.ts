/** One informer behind a merge: its replica, and what its handler received, as lines of text in order. */
import { EventLatency } from '../../../../src/replica/deliver/event-latency.ts';
import { InformerMerge } from '../../../../src/replica/merge/informer-merge.ts';
import { MainTransform } from '../../../../src/replica/merge/main-transform.ts';
import { DeltaKind } from '../../../../src/shared/record/delta.ts';
import { NO_ROW } from '../../../../src/replica/store/columns.ts';
import { DecodedCache } from '../../../../src/replica/store/decoded-cache.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import { IndexSet } from '../../../../src/replica/store/replica-state.ts';
import { ReplicaIndexer } from '../../../../src/replica/store/indexer.ts';
import { Replica } from '../../../../src/replica/store/replica.ts';
import { borrowed, newOwner } from '../store/objects.ts';
import type { WireObject } from '../store/objects.ts';
import { recorder } from '../store/scripted-replica.ts';

export interface MergingOptions {
  readonly shards?: number;
  readonly fields?: readonly string[];
  readonly transform?: (object: unknown) => unknown;
  /** True when the handler receives updates without a change. Default true. */
  readonly isResyncDue?: boolean;
}

export class MergingInformer {
  readonly cache: DecodedCache = new DecodedCache(2 ** 20);
  readonly owner: EntryOwner;
  readonly replica: Replica;
  readonly indexer: ReplicaIndexer<unknown>;
  readonly merge: InformerMerge;
  /** Notifications, control records (`end 7`) and errors (`ERR_… key`), in order of arrival. */
  readonly log: string[] = [];

  constructor({ shards = 1, fields = [], transform, isResyncDue = true }: MergingOptions = {}) {
    this.owner = newOwner({ fields, decodedCache: this.cache });
    const onError = (error: { readonly code: string }, key: string): void => {
      this.log.push(`${error.code} ${key}`);
    };
    const { table } = this.owner;
    const indexes = new IndexSet(table, {}, fields.length, onError);
    this.replica = new Replica(table, shards, indexes, recorder(table, this.log, isResyncDue));
    this.indexer = new ReplicaIndexer(this.replica, indexes);
    this.merge = new InformerMerge({
      replica: this.replica,
      owner: this.owner,
      transform: transform && new MainTransform(transform, fields, onError),
      latency: new EventLatency(),
      onError,
      onControl: ({ kind, resourceVersion }) => {
        const name = Object.entries(DeltaKind).find(([, value]) => value === kind)?.[0];
        this.log.push(`${name} ${resourceVersion}`.trim());
      },
    });
  }

  entry(key: string): Entry {
    const row = this.replica.rowByKey(key);
    if (row === NO_ROW) throw new RangeError(`${key} is not cached`);
    return this.owner.table.open(row);
  }

  object(key: string): WireObject {
    const entry = this.entry(key);
    return borrowed(entry, '', () => entry.object as WireObject);
  }

  takeLog(): string[] {
    return this.log.splice(0);
  }
}
