/** Headers of the rings that hold what no thread writes: a coded end, and never a wrong object. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedIndexInformer } from '../../src/index.ts';
import type { KubeloomError } from '../../src/index.ts';
import { FakeControllerSource, settled } from '../../src/testing/index.ts';
import { RingMemory } from '../../src/ring/ring.ts';
import { LENGTH_WORD, TYPE_WORD } from '../../src/ring/layout.ts';
import { Word } from '../../src/ring/word.ts';
import { InformerThreads } from '../../src/threads/informer-threads.ts';
import { allocatePipeline } from '../../src/threads/layout.ts';
import { DeltaKind } from '../../src/record/delta.ts';
import { ShardTwin } from '../indexer/shard-twin.ts';
import { PODS, pod } from '../pipeline/harness.ts';

const MIB = 2 ** 20;

const DAMAGES = [
  { to: 'toMain', what: 'a length of nothing', word: LENGTH_WORD, value: 0 },
  { to: 'toMain', what: 'a length beyond the ring', word: LENGTH_WORD, value: 2 ** 28 },
  { to: 'toMain', what: 'an unknown type', word: TYPE_WORD, value: 77 },
  { to: 'toShard', what: 'a length of nothing', word: LENGTH_WORD, value: 0 },
  { to: 'toShard', what: 'a length beyond the ring', word: LENGTH_WORD, value: 2 ** 28 },
  { to: 'toShard', what: 'an unknown type', word: TYPE_WORD, value: 77 },
] as const;

const CODES: ReadonlySet<string> = new Set(['ERR_KUBELOOM_THREAD', 'ERR_KUBELOOM_THREAD_RESTARTED']);

for (const { to, what, word, value } of DAMAGES) {
  test(`C196 ${to}: a record with ${what} is the end, with a code, and nothing wrong is told`, async (t) => {
    const memory = allocatePipeline(1, 16 * MIB, 64 * 1024);
    await using threads = new InformerThreads({ threads: 0, logBytes: 16 * MIB }, { memory });
    const source = new FakeControllerSource();
    const errors: string[] = [];
    const informer = new SharedIndexInformer(source, PODS, {
      threads,
      onError: (error) => errors.push((error as KubeloomError).code),
    });
    const told: string[] = [];
    informer.addEventHandler({ onAdd: (added) => told.push(added.key) });
    source.add({ ...pod('a') });
    const running = assert.rejects(informer.run(), { code: 'ERR_KUBELOOM_THREAD' });
    await settled(informer);
    const ring = new RingMemory(memory[to][0] as SharedArrayBuffer);
    const place = ring.tail.load() & (ring.capacity - 1);
    // Damaged between its writing and its publication.
    const store: unknown = Reflect.get(Word.prototype, 'store');
    assert.ok(typeof store === 'function');
    t.mock.method(Word.prototype, 'store', function damaging(this: Word, stored: number): void {
      ring.words[(place >> 2) + word] = value;
      Reflect.apply(store, this, [stored]);
    });
    source.add({ ...pod('b') });
    await running;
    t.mock.restoreAll();
    // Its length is looked at only when it has been read.
    assert.deepEqual(told, ['default/a', 'default/b'].slice(0, told.length));
    assert.ok(
      errors.every((code) => CODES.has(code)),
      errors.join(),
    );
    assert.ok(informer.isStopped());
  });
}

test('C173 a shard that cannot begin where its predecessor was ends as one that throws', async () => {
  const twin = new ShardTwin({ isSuccessor: true });
  await twin.attach();
  assert.ok(twin.offerObject({ kind: DeltaKind.Added, name: 'a', resourceVersion: '1', json: '{}' }));
  twin.commit();
  twin.damageInput();
  assert.equal(twin.shard.doWork(), 0);
  twin.resume();
  await new Promise(setImmediate);
  assert.equal(twin.mainRings, 1, 'it has asked for a turn');
  assert.throws(() => twin.shard.doWork(), { code: 'ERR_KUBELOOM_ASSERTION' });
});
