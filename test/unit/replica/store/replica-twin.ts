/**
 * A replica compared with a plain Map. The server's objects change, and watch events and relists go through the shards'
 * numbering into the replica, as the merge does it. Every check compares all queries, and the listener, with the model.
 */
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import type { Dictionary } from '../../../../src/shared/pack/pack.ts';
import { DeltaKind } from '../../../../src/shared/record/delta.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import { field, label } from '../../../../src/replica/store/index-functions.ts';
import type { Indexers } from '../../../../src/replica/store/index-functions.ts';
import { NO_ORDINAL, NO_ROW } from '../../../../src/replica/store/columns.ts';
import { IndexSet } from '../../../../src/replica/store/replica-state.ts';
import { ReplicaIndexer } from '../../../../src/replica/store/indexer.ts';
import { SharedFields } from '../../../../src/replica/store/extracted-fields.ts';
import { Replica } from '../../../../src/replica/store/replica.ts';
import type { ReplicaListener } from '../../../../src/replica/store/replica.ts';
import { pick, wholeNumber } from '../../shared/ring/random.ts';
import { identityOf, newEntry, newOwner, factsOf, extractedText, wireObject } from './objects.ts';
import type { ObjectSpec } from './objects.ts';
import { ShardModel } from './shard-model.ts';

export const KEYS = 40;
const NAMESPACES = ['', 'default', 'kube-system'] as const;
const APPS = [undefined, 'web', 'api', 'größe'] as const;
const NODES = [null, 'node-1', 'node-2', ['node-1', 'node-3']] as const;

/** Index functions and their expected values, computed from the object itself. */
const INDEXES: Readonly<
  Record<string, { readonly indexer: Indexers[string]; of: (spec: ObjectSpec) => readonly string[] }>
> = {
  namespace: { indexer: { index: 'namespace' }, of: ({ namespace }) => (namespace ? [namespace] : []) },
  app: { indexer: label('app'), of: ({ labels }) => (labels?.['app'] ? [labels['app']] : []) },
  node: { indexer: field('spec.nodeName'), of: ({ fields }) => [fields?.[0] ?? []].flat() as string[] },
  // Reads the object, returns values twice, and throws for some objects.
  parity: {
    indexer: (entry) => {
      const { n } = (entry.object as { spec: { n: number } }).spec;
      if (n % 7 === 0) throw new Error('seven');
      return [String(n % 2), String(n % 2), entry.name];
    },
    of: ({ spec, name }) => {
      const { n } = spec as { n: number };
      return n % 7 === 0 ? [] : [String(n % 2), name];
    },
  },
};

export interface Epoch {
  readonly epoch: number;
  /** Items that were listed. */
  readonly listed: Map<string, ObjectSpec>;
  /** Items that are still to be listed. */
  readonly items: ObjectSpec[];
}

export class ReplicaTwin {
  readonly owner: EntryOwner = newOwner({
    retainChecks: 'strict',
    fields: ['spec.nodeName'],
    packing: { totalBytesMin: 0, wastedBytesMin: 0 },
  });
  readonly replica: Replica;
  readonly indexer: ReplicaIndexer<unknown>;
  /** Every entry that was ever created. */
  readonly entries: Entry[] = [];
  readonly #random: Random;
  readonly #indexNames: string[] = ['namespace'];
  readonly #sharedFields: SharedFields = new SharedFields();
  readonly #shards: ShardModel;
  readonly #server: Map<string, ObjectSpec> = new Map();
  #cached: Map<string, ObjectSpec> = new Map();
  #version = 100;
  #resourceVersion = '';
  #epochs = 0;
  #packing: Generator<void, boolean, void> | undefined;
  readonly #dissolved: Set<Dictionary> = new Set();
  epoch: Epoch | undefined;

  constructor(random: Random, listener: ReplicaListener, shards: number) {
    this.#random = random;
    this.#shards = new ShardModel(shards);
    const { table } = this.owner;
    const indexes = new IndexSet(table, {}, 1, (error) =>
      assert.equal(error.code, 'ERR_KUBELOOM_INDEX_FUNCTION'),
    );
    this.replica = new Replica(table, shards, indexes, listener);
    this.indexer = new ReplicaIndexer(this.replica, indexes);
  }

  get cachedEntries(): Entry[] {
    const { live, table } = this.replica;
    return [...live.ordinals()].map((ordinal) => table.open(live.rowAt(ordinal)));
  }

  get cachedSize(): number {
    return this.#cached.size;
  }

  /** Writes an object on the server, known or new. */
  write(): ObjectSpec {
    const n = wholeNumber(this.#random, 0, KEYS - 1);
    const namespace = pick(this.#random, NAMESPACES);
    const app = pick(this.#random, APPS);
    const spec: ObjectSpec = {
      namespace,
      name: `pod-${n}`,
      version: ++this.#version,
      ...(app === undefined ? {} : { labels: { app } }),
      fields: [pick(this.#random, NODES)],
      spec: { n: wholeNumber(this.#random, 0, 20), text: this.#text(wholeNumber(this.#random, 0, 3000)) },
    };
    this.#server.set(identityOf(spec).key, spec);
    return spec;
  }

  /** Deletes an object on the server; with `isUnseen` one that no watch event ever showed. */
  delete(isUnseen: boolean): ObjectSpec | undefined {
    const known = [...this.#server.values()];
    const spec = isUnseen ? this.write() : known[wholeNumber(this.#random, 0, known.length - 1)];
    if (!spec) return undefined;
    this.#server.delete(identityOf(spec).key);
    return { ...spec, version: ++this.#version };
  }

  /** Merges an event of the watch. */
  event(spec: ObjectSpec, isDeletion: boolean): void {
    const { key } = identityOf(spec);
    this.#merge(spec, isDeletion, false);
    const target = this.epoch ? this.epoch.listed : this.#cached;
    if (isDeletion) target.delete(key);
    else target.set(key, spec);
    if (!this.epoch) this.#resourceVersion = String(spec.version);
  }

  begin(): void {
    const epoch = ++this.#epochs;
    this.#shards.begin();
    this.replica.control(DeltaKind.ReplaceBegin, epoch, '');
    this.epoch = { epoch, listed: new Map(), items: [...this.#server.values()] };
  }

  /** Merges the next item of the list as it was when the list began; sometimes an item comes twice. */
  item(): void {
    const { epoch } = this;
    if (!epoch) return;
    const spec = this.#random() < 0.05 ? epoch.items[0] : epoch.items.shift();
    if (!spec) return;
    const { key } = identityOf(spec);
    const listed = epoch.listed.get(key);
    // An event of the watch within the epoch is newer than the list.
    if (listed && Number(listed.version) > Number(spec.version)) return;
    this.#merge(spec, false, true);
    epoch.listed.set(key, spec);
  }

  /** Ends a list before it is complete; the next begins before anything else comes. */
  abort(): void {
    if (!this.epoch) return;
    this.replica.control(DeltaKind.ReplaceAbort, this.epoch.epoch, '');
    this.epoch = undefined;
    this.check();
    this.begin();
  }

  end(): void {
    if (!this.epoch) return;
    while (this.epoch.items.length > 0) this.item();
    const { epoch, listed } = this.epoch;
    this.check();
    this.#cached = listed;
    this.#resourceVersion = String(++this.#version);
    this.epoch = undefined;
    while (!this.replica.control(DeltaKind.ReplaceEnd, epoch, this.#resourceVersion));
  }

  /** Sends late or foreign control records, which must change nothing. */
  stray(): void {
    this.replica.control(DeltaKind.ReplaceAbort, 1_000_000, '');
    this.replica.control(DeltaKind.ReplaceEnd, 1_000_000, '999999');
  }

  bookmark(): void {
    if (this.epoch) return;
    this.#resourceVersion = String(++this.#version);
    this.replica.control(DeltaKind.Bookmark, 0, this.#resourceVersion);
  }

  /** Adds one or several of the indexers that are still missing. */
  addIndexers(): void {
    const missing = Object.keys(INDEXES).filter((name) => !this.#indexNames.includes(name));
    const added = missing.slice(0, wholeNumber(this.#random, 0, missing.length));
    if (added.length === 0) return;
    this.indexer.addIndexers(
      Object.fromEntries(added.map((name) => [name, INDEXES[name]?.indexer])) as Indexers,
    );
    this.#indexNames.push(...added);
  }

  /** Runs this number of packing steps; a round continues where it stopped. */
  pack(steps: number): void {
    for (let step = 0; step < steps; step++) {
      this.#packing ??= this.owner.packed.round();
      if (this.#packing.next().done) this.#packing = undefined;
    }
    for (const each of this.owner.packed.dictionaries) if (each.isDissolved) this.#dissolved.add(each);
  }

  /** Number of dissolved dictionaries. */
  get dissolved(): number {
    return this.#dissolved.size;
  }

  /** Compares every query with the model. */
  check(): void {
    const { indexer } = this;
    const specs = [...this.#cached.values()];
    const versionsOf = (found: readonly { key: string; resourceVersion: string }[]): string[] =>
      found.map(({ key, resourceVersion }) => `${key}@${resourceVersion}`);
    const expected = (found: readonly ObjectSpec[]): string[] =>
      found.map((spec) => `${identityOf(spec).key}@${spec.version}`);
    assert.deepEqual(versionsOf(indexer.list()), expected(specs));
    assert.deepEqual(indexer.listKeys(), [...this.#cached.keys()]);
    for (const [key, spec] of this.#cached) assert.deepEqual(indexer.getByKey(key)?.copy(), wireObject(spec));
    assert.equal(indexer.size, specs.length);
    assert.equal(indexer.lastStoreSyncResourceVersion(), this.#resourceVersion);
    for (const name of this.#indexNames) {
      const byValue = new Map<string, Set<string>>();
      for (const spec of specs) {
        for (const value of INDEXES[name]?.of(spec) ?? []) {
          byValue.set(value, (byValue.get(value) ?? new Set()).add(identityOf(spec).key));
        }
      }
      assert.deepEqual(indexer.listIndexFuncValues(name).sort(), [...byValue.keys()].sort(), name);
      for (const [value, found] of byValue) {
        const keys = [...found].sort();
        assert.deepEqual(indexer.indexKeys(name, value), keys, `${name}=${value}`);
        const entries = indexer.byIndex(name, value);
        assert.deepEqual(entries.map(({ key }) => key).sort(), keys, `${name}=${value}`);
        for (const entry of entries) assert.equal(entry, indexer.getByKey(entry.key));
      }
    }
  }

  /** Disposes of replaced states, as the drain does between two turns. */
  dispose(): void {
    const { slabs, packed } = this.owner;
    while (this.replica.dispose()) {
      if (slabs.hasCompaction) slabs.compact();
      if (packed.slabs.hasCompaction) packed.slabs.compact();
    }
  }

  /** Runs an empty relist and disposes of everything: nothing may be left. */
  clear(): void {
    this.#server.clear();
    this.begin();
    this.end();
    this.dispose();
  }

  #merge(spec: ObjectSpec, isDeletion: boolean, isItem: boolean): void {
    const { key } = identityOf(spec);
    const { shard, id, isNew } = this.#shards.object(key, isDeletion);
    const { table } = this.owner;
    const row = isNew ? this.replica.rowByKey(key) : this.replica.rowOf(shard, id);
    const previous = row === NO_ROW ? undefined : table.factsOf(row);
    if (!isNew) assert.equal(previous?.key, key, 'an id leads to another object');
    const live = this.replica.rowByKey(key);
    if (isItem && live !== NO_ORDINAL && table.versionOf(live) === spec.version) {
      this.replica.keep(shard, id, this.replica.live.get(key));
      return;
    }
    const read = factsOf(identityOf(spec), extractedText(spec), this.#sharedFields, previous);
    const facts = previous?.equals(read) ? previous : read;
    const entry = newEntry(this.owner, spec, { facts });
    this.entries.push(entry);
    if (isDeletion) this.replica.remove(entry.row);
    else this.replica.upsert(shard, id, entry.row);
  }

  /** Returns text of this length, of one letter or random. */
  #text(length: number): string {
    if (this.#random() < 0.5) return 'x'.repeat(length);
    let text = '';
    while (text.length < length) text += this.#random().toString(36).slice(2);
    return text.slice(0, length);
  }
}
