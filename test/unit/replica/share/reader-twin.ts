/** Both ends of a link in one thread: a reader's replica, with a handler, and its lender in the main thread's replica. */
import assert from 'node:assert/strict';
import type { KubeloomError } from '../../../../src/base/errors.ts';
import type { Random } from '../../../../src/base/clock.ts';
import type { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import { ForeignMemory, ForeignRows } from '../../../../src/replica/share/foreign-memory.ts';
import { Lender } from '../../../../src/replica/share/lender.ts';
import type { Lending } from '../../../../src/replica/share/lending.ts';
import { allocateLink } from '../../../../src/replica/share/messages.ts';
import type { ToReader } from '../../../../src/replica/share/messages.ts';
import { ReaderLink } from '../../../../src/replica/share/reader-link.ts';
import { StateMerge } from '../../../../src/replica/share/state-merge.ts';
import { StatesMerger } from '../../../../src/replica/share/states-merger.ts';
import { DecodedCache } from '../../../../src/replica/store/decoded-cache.ts';
import { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { EntryTable } from '../../../../src/replica/store/entry-table.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import type { CachedObject } from '../../../../src/replica/store/cached-object.ts';
import { field, label } from '../../../../src/replica/store/index-functions.ts';
import { ReplicaIndexer } from '../../../../src/replica/store/indexer.ts';
import { IndexSet } from '../../../../src/replica/store/replica-state.ts';
import { Replica } from '../../../../src/replica/store/replica.ts';
import { newListener } from '../deliver/recording-handler.ts';
import { Mirror } from '../store/mirror.ts';

export interface SharedReplica {
  readonly owner: EntryOwner;
  readonly replica: Replica;
  readonly processor: SharedProcessor;
  readonly lending: Lending;
}

const INFORMER = 3;

export class ReaderTwin {
  readonly link: ReaderLink;
  /** The listener of the lender on the main thread. */
  readonly lent: ProcessorListener;
  readonly table: EntryTable = new EntryTable();
  readonly replica: Replica;
  readonly indexer: ReplicaIndexer<unknown>;
  readonly owner: EntryOwner;
  /** A handler in the reader. */
  readonly handler: ProcessorListener;
  readonly mirror: Mirror = new Mirror();
  readonly retained: CachedObject<unknown>[] = [];
  readonly merger: StatesMerger;
  readonly #main: SharedReplica;
  readonly #lender: Lender;
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
    const { replica, owner, lending, processor } = main;
    this.#lender = new Lender(INFORMER, this.link, {
      table: owner.table,
      owner: () => owner,
      replica,
      heldBytesMax,
      isIdle: () => this.lent.isIdle,
      remove: () => processor.remove(this.lent),
    });
    this.link.add(INFORMER, this.#lender);
    lending.add(this.#lender);
    const { listener, reports } = newListener(this.#lender, { table: owner.table, writer: this.#lender });
    this.lent = listener;
    this.owner = new EntryOwner(this.table, {
      kind: 'Pod',
      fields: ['spec.nodeName'],
      borrowChecks: 'strict',
      decodedCache: new DecodedCache(2 ** 16),
      objectBytesMax: 4096,
      foreign: new ForeignRows(this.table, this.#memory),
    });
    const indexes = new IndexSet(
      this.table,
      { app: label('app'), node: field('spec.nodeName') },
      1,
      (error) => {
        throw error;
      },
    );
    const readers = new SharedProcessor();
    this.replica = new Replica(this.table, 1, indexes, readers);
    this.indexer = new ReplicaIndexer(this.replica, indexes);
    const handler = newListener(this.#handler(random, check), { table: this.table });
    this.handler = handler.listener;
    readers.add(this.handler, this.replica);
    this.merger = new StatesMerger({
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
      new StateMerge(this.replica, this.#memory, (isListEnd) => {
        if (isListEnd) this.lists++;
      }),
    );
    processor.add(this.lent, replica);
    this.errors = [reports.errors, handler.reports.errors];
  }

  readonly errors: readonly (readonly { readonly error: unknown }[])[];

  /** Delivers to the link, and does what follows each round of the drain. */
  lend(count: number): void {
    this.lent.deliver(count);
    this.#lender.merged();
    this.link.turn();
  }

  /** Merges records in the reader, and delivers to its handler. */
  read(records: number, calls: number): void {
    this.merger.merge(records);
    this.merger.publish();
    this.handler.deliver(calls);
    while (this.replica.dispose());
    this.merger.giveBack();
  }

  /** Removes the handler on the main thread, as an overflow does. */
  remove(failure?: KubeloomError): void {
    this.#main.processor.remove(this.lent, false, failure);
  }

  /** Ends the reader at this moment: only the main thread's end is used from now on. */
  kill(): void {
    this.link.close();
    this.#main.lending.remove(this.#lender);
  }

  /** Ends all loans of a reader that was killed. */
  release(): void {
    while (this.link.release());
    while (this.lent.release());
  }

  /** Returns whether everything that the main thread has is in the reader, and was delivered there. */
  get isLevel(): boolean {
    return this.lent.isIdle && !this.merger.hasWork() && this.handler.isIdle;
  }

  get rows(): number {
    return this.link.lentRows;
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
