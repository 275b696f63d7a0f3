/** A handler that records its notifications, and the cache and its indexes at that moment. */
import type { Borrowed, DeletedFinalStateUnknown, ResourceEventHandler } from '../../../src/index.ts';
import { bodyHash } from './body-hash.ts';
import type { ChangeRecord } from './histories.ts';
import type { HandlerRecording, Notebook, RecordedInformer } from './recording.ts';

type Deleted = Borrowed<unknown> | DeletedFinalStateUnknown<unknown>;

export class RecordedHandler implements ResourceEventHandler<unknown> {
  readonly #notebook: Notebook;
  readonly #recorded: RecordedInformer;
  readonly #name: string;
  readonly #react: (change: ChangeRecord) => unknown;

  constructor(notebook: Notebook, recorded: RecordedInformer, name: string, recording: HandlerRecording) {
    this.#notebook = notebook;
    this.#recorded = recorded;
    this.#name = name;
    this.#react = recording.react ?? ((): undefined => undefined);
  }

  onAdd(added: Borrowed<unknown>, isInInitialList: boolean): unknown {
    return this.#record({ kind: 'add', isInInitialList, ...this.#seen(added) });
  }

  onUpdate(previous: Borrowed<unknown>, current: Borrowed<unknown>): unknown {
    const oldRevision = Number(previous.resourceVersion);
    return this.#record({ kind: 'update', oldRevision, ...this.#seen(current) });
  }

  onDelete(deleted: Deleted): unknown {
    const { finalStateUnknown } = deleted;
    const last = deleted.finalStateUnknown ? deleted.last : deleted;
    return this.#record({ kind: 'delete', finalStateUnknown, ...this.#seen(last) });
  }

  #record(change: ChangeRecord): unknown {
    // Whether the handler had synced before this call is visible only before it.
    this.#notebook.look();
    this.#notebook.histories.told.push(change);
    return this.#react(change);
  }

  #seen(entry: Borrowed<unknown>): Omit<ChangeRecord, 'kind'> {
    const { informer, indices, hasBodies } = this.#recorded;
    const indexer = informer.getIndexer();
    const cached = indexer.getByKey(entry.key);
    const names = Object.entries(indices);
    const isIndexed = names.every(([index, valuesOf]) => {
      // A cached object must be in the index; an uncached one must not be at its former place.
      const values = valuesOf(cached ?? entry);
      return values.every(
        (value) => indexer.indexKeys(index, value).includes(entry.key) === (cached !== undefined),
      );
    });
    return {
      handler: this.#name,
      at: this.#notebook.now(),
      key: entry.key,
      revision: Number(entry.resourceVersion),
      uid: entry.uid,
      cached: cached === undefined ? null : Number(cached.resourceVersion),
      isIndexed,
      ...(hasBodies ? bodies(entry) : {}),
    };
  }
}

/** Returns nothing for an object of which only the identity is kept: it is delivered all the same. */
function bodies(entry: Borrowed<unknown>): { hash?: string; objectHash?: string } {
  try {
    return {
      hash: bodyHash(entry.bytes().toString()),
      objectHash: bodyHash(JSON.stringify(readByAllDoors(entry))),
    };
  } catch {
    return {};
  }
}

/** Returns the object, with metadata and labels read through `entry.metadata` and `entry.labels`. */
function readByAllDoors(entry: Borrowed<unknown>): unknown {
  const metadata = entry.metadata as object;
  const object = entry.object as { readonly metadata: { readonly managedFields?: unknown } };
  const { managedFields } = object.metadata;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...('labels' in metadata ? { labels: entry.labels } : {}),
      ...(managedFields === undefined ? {} : { managedFields }),
    },
  };
}
