/**
 * Typical faults of informers, put into kubeloom's own code. The oracle must see every one of them in some
 * seed of the simulator. `find` matches exactly one place of the compiled file.
 */
import type { Fault } from '../../contract/fault.ts';

export interface Mutant extends Fault {
  readonly name: string;
}

const LISTENERS = [
  'for (const listener of this.#listeners)',
  '            listener.push(oldRow, newRow, merging);',
].join('\n');
const TELL = 'for (const listener of this.#listeners) listener.push';

/** Delays every tenth change until the next one has been delivered; `when` can delay it longer. */
function swapped(when: string): string {
  return [
    'this.count = (this.count ?? 0) + 1;',
    'const key = table.keyOf(row);',
    'const { late } = this;',
    'if (this.count % 10 === 0 && !late) {',
    '  for (const each of [previous, row]) if (each !== NO_ROW) table.addReference(each);',
    '  this.late = { previous, row, key };',
    '} else {',
    `  const isSwapped = late && (${when});`,
    '  if (late && !isSwapped) this.#listener.changed(late.previous, late.row);',
    '  this.#listener.changed(previous, row);',
    '  if (isSwapped) this.#listener.changed(late.previous, late.row);',
    '  this.late = undefined;',
    '}',
  ].join('\n');
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a thread misses every 20th change that needs no wait',
    file: 'src/thread/main/cache-export.ts',
    find: 'changed(oldRow, newRow) {',
    replace:
      'changed(oldRow, newRow) {\nthis.count = (this.count ?? 0) + 1;\nif (this.count % 20 === 0) return true;',
  },
  {
    name: 'changes pass the list that a thread waits for',
    file: 'src/replica/deliver/processor-listener.ts',
    find: 'if (writer && this.isIdle && writer.changed(oldRow, newRow)) {',
    replace: 'if (writer && writer.changed(oldRow, newRow)) {',
  },
  {
    name: 'a state has the metadata of the one before, whatever changed',
    file: 'src/indexer/key-states.ts',
    find: 'const isSame = chunk[at + LOW] === this.#hash.low && chunk[at + HIGH] === this.#hash.high;',
    replace: 'const isSame = true;',
  },
  {
    name: 'packed objects are unpacked from one byte farther on',
    file: 'src/shared/pack/pack.ts',
    find: 'let from = length + shift;',
    replace: 'let from = length + shift + 1;',
  },
  {
    name: 'the samples of ended shards stay for the new shards',
    file: 'src/replica/merge/informer-merge.ts',
    find: 'owner.packed.forgetShards();',
    replace: '',
  },
  {
    name: 'every 10th sample of a shard does not become a sample of the main thread',
    file: 'src/replica/store/packed-objects.ts',
    find: 'samples.add(sample);',
    replace: 'this.count = (this.count ?? 0) + 1; if (this.count % 10 !== 0) samples.add(sample);',
  },
  {
    name: 'every 10th turn of the reflector ends without a commit',
    file: 'src/reflector/loop-turns.ts',
    find: 'this.#work.commit();',
    replace: 'this.count = (this.count ?? 0) + 1; if (this.count % 10 !== 0) this.#work.commit();',
  },
  {
    name: 'turns behind the first leave their commit to an end that never comes',
    file: 'src/reflector/loop-turns.ts',
    find: 'this.#records = 0;',
    replace: '',
  },
  {
    name: 'new threads find the records of the threads before',
    file: 'src/informer/threads/informer-threads.ts',
    find: 'emptyPipeline(this.#memory, this.#merger.merged);',
    replace: '',
  },
  {
    name: 'every 20th event is dropped',
    file: 'src/reflector/watch-body.ts',
    find: 'switch (this.#owner.writer.write(this.#deltaKind(kind), bytes, objectStart, objectEnd)) {',
    replace:
      'this.count = (this.count ?? 0) + 1; if (this.count % 20 === 0) return true;\n' +
      'switch (this.#owner.writer.write(this.#deltaKind(kind), bytes, objectStart, objectEnd)) {',
  },
  {
    name: 'deletions are dropped',
    file: 'src/reflector/watch-body.ts',
    find: 'return this.#object(DeltaKind.Deleted, bytes);',
    replace: 'return true;',
  },
  {
    name: 'every 20th change is delivered twice',
    file: 'src/replica/deliver/processor-listener.ts',
    find: LISTENERS,
    replace: `this.count = (this.count ?? 0) + 1;\n${TELL}(oldRow, newRow);\nif (this.count % 20 === 0) ${TELL}(oldRow, newRow);`,
  },
  {
    name: 'adjacent changes of different keys are swapped',
    file: 'src/replica/store/replica.ts',
    find: 'this.#listener.changed(previous, row);',
    replace: swapped('late.key !== key'),
  },
  {
    name: 'adjacent changes of one key are swapped',
    file: 'src/replica/store/replica.ts',
    find: 'this.#listener.changed(previous, row);',
    replace: swapped('late.key === key'),
  },
  {
    name: 'handlers are called before the cache is written',
    file: 'src/replica/store/replica.ts',
    find: 'this.#live.update(ordinal, row, values);',
    replace: 'queueMicrotask(() => this.#live.update(ordinal, row, values));',
  },
  {
    name: 'a relist delivers no deletions',
    file: 'src/replica/store/replica.ts',
    find: 'if (row !== NO_ROW)\n                difference.addDeletion(row);',
    replace: 'if (row !== NO_ROW) difference.oldCount++;',
  },
  {
    name: 'the difference of a relist lacks every 5th change',
    file: 'src/replica/store/deliveries.ts',
    find: 'if (!isDeletion && (newRow === NO_ROW ||',
    replace: 'if (!isDeletion && (place % 5 === 4 || newRow === NO_ROW ||',
  },
  {
    name: 'the difference of a relist is delivered backwards',
    file: 'src/replica/store/deliveries.ts',
    find: 'const place = position - this.#deletions.length;',
    replace: 'const place = this.length - 1 - position;',
  },
  {
    name: 'a deletion found by a relist looks like an ordinary one',
    file: 'src/replica/deliver/handler-calls.ts',
    find: 'isFinalStateUnknown ? new DeletedFinalStateUnknown(oldEntry) : oldEntry',
    replace: 'oldEntry',
  },
  {
    name: 'shards are merged as they come',
    file: 'src/replica/merge/sequence-merger.ts',
    find: 'return ring.peek() && sequenceOf(ring) === (this.merged + 1) >>> 0;',
    replace: 'return ring.peek();',
  },
  {
    name: 'bells wake no thread',
    file: 'src/shared/ring/bell.ts',
    find: 'this.#onRing?.();',
    replace: '',
  },
  {
    name: 'the cache has synced while its first list arrives',
    file: 'src/replica/store/replica.ts',
    find: 'return this.#hasSynced;',
    replace: 'return this.#hasSynced || this.#shadow !== undefined;',
  },
  {
    name: 'a handler has synced before its initial list was delivered',
    file: 'src/replica/deliver/processor-listener.ts',
    find: 'return this.#hasInitial && this.#initial === undefined;',
    replace: 'return this.#hasInitial;',
  },
  {
    name: 'an index keeps objects whose labels have changed',
    file: 'src/replica/store/replica-state.ts',
    find: 'if (!values)',
    replace: 'if (true)',
  },
  {
    name: 'a joining handler misses changes during its initial list',
    file: 'src/replica/store/replica-state.ts',
    find: ['for (const observer of this.cursors)', '            observer.beforeChange(ordinal);'].join('\n'),
    replace: '',
  },
  {
    name: 'a joining handler misses deletions during its initial list',
    file: 'src/replica/store/replica-state.ts',
    find: ['for (const observer of this.cursors)', '            observer.beforeRemove(ordinal);'].join('\n'),
    replace: '',
  },
  {
    name: 'a handler that throws receives nothing more',
    file: 'src/replica/deliver/handler-calls.ts',
    find: [
      'this.#report(error, oldEntry, newEntry);',
      '        }',
      '        this.#finish(oldEntry, newEntry, startMs);',
      '    }',
      '    async',
    ].join('\n'),
    replace: [
      'this.#report(error, oldEntry, newEntry); return;',
      '        }',
      '        this.#finish(oldEntry, newEntry, startMs);',
      '    }',
      '    async',
    ].join('\n'),
  },
  {
    name: 'a watch resumes from where it began',
    file: 'src/reflector/watch-body.ts',
    find: 'this.#position.moveTo(bytes, resourceVersionStart, resourceVersionEnd);',
    replace: 'void 0;',
  },
  {
    name: 'a watch resumes one version too far',
    file: 'src/reflector/watch-body.ts',
    find: 'resourceVersion: this.#text,',
    replace: "resourceVersion: this.#text === '' ? '' : String(Number(this.#text) + 1),",
  },
  {
    name: 'bookmarks do not move the version',
    file: 'src/replica/store/replica.ts',
    find: 'this.changing.version = resourceVersion;',
    replace: '',
  },
  {
    name: 'events do not move the version',
    file: 'src/replica/store/replica.ts',
    find: 'this.#live.version = table.versionOf(row);',
    replace: '',
  },
  {
    name: 'a bookmark takes the version back',
    file: 'src/reflector/watch-body.ts',
    find: 'if (this.#position.isAhead(resourceVersion)) {',
    replace: 'if (false) {',
  },
  {
    name: 'a deletion that is sent twice is delivered twice',
    file: 'src/replica/store/replica.ts',
    find: 'if (ordinal === NO_ORDINAL && isRepeated(version, this.#deletions.get(key)))',
    replace: 'if (false)',
  },
  {
    name: 'an expired watch is taken for an ordinary end',
    file: 'src/reflector/rules/step-watching.ts',
    find: 'return expiredWatch(memory, failure, now);',
    replace: "return after([CLOSE], backOff(memory, 'watch', failure, now));",
  },
  {
    name: 'a line that is no event is passed over',
    file: 'src/reflector/watch-body.ts',
    find: "return this.#fail('not a watch event', bytes, start, end);",
    replace: 'return true;',
  },
  {
    name: 'a member named __proto__ goes into a table of shapes',
    file: 'src/indexer/msgpack-encoder.ts',
    find: ["if (key === '__proto__')", '                this.#isSafe = false;'].join('\n'),
    replace: '',
  },
  {
    name: 'every 20th call of a handler is not in its metrics',
    file: 'src/replica/deliver/handler-calls.ts',
    find: 'this.calls++;',
    replace: 'this.count = (this.count ?? 0) + 1; if (this.count % 20 !== 0) this.calls++;',
  },
  {
    name: 'the metrics count the initial list of a handler as one pending notification',
    file: 'src/replica/deliver/processor-listener.ts',
    find: 'notifications += cursor.remaining;',
    replace: 'notifications += 1;',
  },
  {
    name: 'bookmarks are missing in the metrics',
    file: 'src/replica/merge/informer-merge.ts',
    find: ['if (record.kind === DeltaKind.Bookmark) {', '            this.records++;'].join('\n'),
    replace: 'if (record.kind === DeltaKind.Bookmark) {',
  },
  {
    name: 'the metrics count every event of a watch twice',
    file: 'src/reflector/watch-body.ts',
    find: 'counts[type]++;',
    replace: 'counts[type] += 2;',
  },
  {
    name: 'a reflector does not continue the counters of the one before it',
    file: 'src/shared/counters.ts',
    find: 'this.values = this.#memory.half(this.#publications).slice();',
    replace: 'this.values = this.#memory.half(this.#publications).slice().fill(0);',
  },
  {
    name: 'a relist accepts any version',
    file: 'src/http/queries.ts',
    find: "return lastSeen === '' && first === 'any' ? '0' : lastSeen;",
    replace: "return '0';",
  },
  {
    name: 'a relist keeps whatever has the version that it had',
    file: 'src/replica/merge/informer-merge.ts',
    find: ['&&', '            this.#hasObject(live, listed)'].join('\n'),
    replace: '',
  },
];
