/** Both ends of a link in one thread: a reader's replica, with a handler, and its cache export in the main thread's replica. */
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import type { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import { ForeignMemory, ForeignRows } from '../../../../src/thread/worker/foreign-memory.ts';
import { CacheExport } from '../../../../src/thread/main/cache-export.ts';
import type { CacheExports } from '../../../../src/replica/store/cache-exports.ts';
import { allocateLink } from '../../../../src/thread/messages.ts';
import type { ToReader } from '../../../../src/thread/messages.ts';
import { ReaderLink } from '../../../../src/thread/main/reader-link.ts';
import { ReplicaReader } from '../../../../src/thread/worker/replica-reader.ts';
import { ExportRingReader } from '../../../../src/thread/worker/export-ring-reader.ts';
import { DecodedCache } from '../../../../src/replica/store/decoded-cache.ts';
import { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { EntryTable } from '../../../../src/replica/store/entry-table.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import type { CachedObject } from '../../../../src/replica/store/cached-object.ts';
import { field, label } from '../../../../src/replica/store/index-functions.ts';
import { ReplicaIndexer } from '../../../../src/replica/store/indexer.ts';
import { IndexSet } from '../../../../src/replica/store/replica-state.ts';
import { Replica } from '../../../../src/replica/store/replica.ts';
import { newListener } from '../../replica/deliver/recording-handler.ts';
import { Mirror } from '../../replica/store/mirror.ts';

export interface SharedReplica {
  readonly owner: EntryOwner;
  readonly replica: Replica;
  readonly processor: SharedProcessor;
  readonly cacheExports: CacheExports;
}

const INFORMER = 3;

export class ReaderTwin {
  readonly link: ReaderLink;
  /** The listener of the cache export on the main thread. */
  readonly listener: ProcessorListener;
  readonly table: EntryTable = new EntryTable();
  readonly replica: Replica;
  readonly indexer: ReplicaIndexer<unknown>;
  readonly owner: EntryOwner;
  /** A handler in the reader. */
  readonly handler: ProcessorListener;
  readonly mirror: Mirror = new Mirror();
  readonly retained: CachedObject<unknown>[] = [];
  readonly merger: ExportRingReader;
  readonly #main: SharedReplica;
  readonly #cacheExport: CacheExport;
  readonly #messages: ToReader[] = [];
  readonly #memory: ForeignMemory = new ForeignMemory(() => this.receive());
  /** Number of times that the reader woke the main thread. */
  progress = 0;
  lists = 0;
  /** Code of the error that ended the informer. */
  stopped: string | undefined;
  isClosed = false;

  constructor(
    main: SharedReplica,
    random: Random,
    statesBytes: number,
    check: (entry: Entry) => void,
    heldBytesMax: number = Infinity,
  ) {
    this.#main = main;
    const memory = allocateLink(statesBytes);
    this.link = new ReaderLink(memory, {
      post: (message) => this.#messages.push(message),
      broken: (error) => {
        throw error;
      },
    });
    const { replica, owner, cacheExports, processor } = main;
    this.#cacheExport = new CacheExport(INFORMER, this.link, {
      table: owner.table,
      owner: () => owner,
      replica,
      heldBytesMax,
      isIdle: () => this.listener.isIdle,
      remove: () => processor.remove(this.listener),
    });
    this.link.add(INFORMER, this.#cacheExport);
    cacheExports.add(this.#cacheExport);
    const { listener, reports } = newListener(this.#cacheExport, {
      table: owner.table,
      writer: this.#cacheExport,
    });
    this.listener = listener;
    this.owner = new EntryOwner(this.table, {
      kind: 'Pod',
      fields: ['spec.nodeName'],
      retainChecks: 'strict',
      decodedCache: new DecodedCache(2 ** 16),
      objectBytesMax: 4096,
      foreign: new ForeignRows(this.table, this.#memory),
    });
    const indexers = { app: label('app'), node: field('spec.nodeName') };
    const indexes = new IndexSet(this.table, indexers, 1, (error) => {
      throw error;
    });
    const readers = new SharedProcessor();
    this.replica = new Replica(this.table, 1, indexes, readers);
    this.indexer = new ReplicaIndexer(this.replica, indexes);
    const handler = newListener(this.#handler(random, check), { table: this.table });
    this.handler = handler.listener;
    readers.add(this.handler, this.replica);
    this.merger = new ExportRingReader({
      memory,
      progress: () => this.progress++,
      stopped: (_, failure) => (this.stopped = failure?.code ?? 'no error'),
      closed: () => (this.isClosed = true),
      broken: (error) => {
        throw error;
      },
    });
    this.merger.attach(
      INFORMER,
      new ReplicaReader(this.replica, this.#memory, (isListEnd) => {
        if (isListEnd) this.lists++;
      }),
    );
    processor.add(this.listener, replica);
    this.errors = [reports.errors, handler.reports.errors];
  }

  readonly errors: readonly (readonly { readonly error: unknown }[])[];

  /** Delivers to the link, and does what follows each round of the drain. */
  deliver(count: number): void {
    this.listener.deliver(count);
    this.#cacheExport.merged();
    this.link.runOnce();
  }

  /** Merges records in the reader, and delivers to its handler. */
  read(records: number, calls: number): void {
    this.merger.merge(records);
    this.merger.publish();
    this.handler.deliver(calls);
    while (this.replica.dispose());
    this.merger.returnRows();
  }

  /** Removes the handler on the main thread. */
  remove(): void {
    this.#main.processor.remove(this.listener);
  }

  /** Ends the reader at this moment: only the main thread's end is used from now on. */
  kill(): void {
    this.link.close();
    this.#main.cacheExports.remove(this.#cacheExport);
  }

  /** Ends all exportedRows of a reader that was killed. */
  release(): void {
    while (this.link.release());
    while (this.listener.release());
  }

  /** Returns whether everything that the main thread has is in the reader, and was delivered there. */
  get isLevel(): boolean {
    return this.listener.isIdle && !this.merger.hasWork() && this.handler.isIdle;
  }

  get rows(): number {
    return this.link.exportedCount;
  }

  checkErrors(): void {
    for (const errors of this.errors) for (const { error } of errors) throw error;
    assert.ok(this.#main.replica.hasSynced || !this.replica.hasSynced);
  }

  #handler(random: Random, check: (entry: Entry) => void): Parameters<typeof newListener>[0] {
    const called = (before: unknown, after: unknown): void => {
      const [oldEntry, newEntry] = [before as Entry | undefined, after as Entry | undefined];
      this.mirror.change(oldEntry, newEntry);
      for (const entry of [oldEntry, newEntry]) {
        if (!entry || random() < 0.5) continue;
        check(entry);
        if (random() < 0.2) this.retained.push(entry.retain());
      }
    };
    return {
      onAdd: (added) => called(undefined, added),
      onUpdate: (previous, current) => called(previous, current),
      onDelete: (deleted) => called(deleted.finalStateUnknown ? deleted.last : deleted, undefined),
    };
  }

  /** Takes one message of those that were sent. */
  receive(): boolean {
    const message = this.#messages.shift();
    if (message) this.#memory.take(message);
    return message !== undefined;
  }
}
