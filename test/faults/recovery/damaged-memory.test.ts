/**
 * Ring headers with contents that no thread writes: the informer ends with a code, and no wrong object is delivered.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedIndexInformer } from '../../../src/index.ts';
import { FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { RingMemory } from '../../../src/shared/ring/ring.ts';
import { LENGTH_WORD, TYPE_WORD } from '../../../src/shared/ring/ring-layout.ts';
import { Word } from '../../../src/shared/ring/word.ts';
import { InformerThreads } from '../../../src/informer/threads/informer-threads.ts';
import { allocatePipeline } from '../../../src/shared/pipeline-layout.ts';
import { DeltaKind } from '../../../src/shared/record/delta.ts';
import { ShardTwin } from '../../unit/indexer/shard-twin.ts';
import { PODS, pod } from '../../kit/objects.ts';
import { RecordingHandler } from '../../kit/recording-handler.ts';

const MIB = 2 ** 20;

const DAMAGES = [
  { what: 'a length of nothing', word: LENGTH_WORD, value: 0 },
  { what: 'a length beyond the ring', word: LENGTH_WORD, value: 2 ** 28 },
  { what: 'an unknown type', word: TYPE_WORD, value: 77 },
].flatMap((damage) => (['toMain', 'toShard'] as const).map((to) => ({ ...damage, to })));

const CODES: ReadonlySet<string> = new Set(['ERR_KUBELOOM_THREAD', 'ERR_KUBELOOM_THREAD_RESTARTED']);

for (const { to, what, word, value } of DAMAGES) {
  test(`C196 a record with ${what} in the ring ${to} ends the informers with a code, and no wrong object is delivered`, async (t) => {
    const memory = allocatePipeline(1, 16 * MIB, 64 * 1024);
    await using threads = new InformerThreads({ indexerThreads: 0, logBytes: 16 * MIB }, { memory });
    const source = new FakeControllerSource();
    const errors: string[] = [];
    const informer = new SharedIndexInformer(source, PODS, {
      threads,
      onError: (error) => errors.push(error.code),
    });
    const handler = new RecordingHandler();
    informer.addEventHandler(handler);
    source.add({ ...pod('a') });
    const running = assert.rejects(informer.run(), { code: 'ERR_KUBELOOM_THREAD' });
    await settled(informer);
    const ring = new RingMemory(memory[to][0] as SharedArrayBuffer);
    const place = ring.tail.load() & (ring.capacity - 1);
    // Damage it between its writing and its publication.
    const store: unknown = Reflect.get(Word.prototype, 'store');
    assert.ok(typeof store === 'function');
    t.mock.method(Word.prototype, 'store', function damaging(this: Word, stored: number): void {
      ring.words[(place >> 2) + word] = value;
      Reflect.apply(store, this, [stored]);
    });
    source.add({ ...pod('b') });
    await running;
    t.mock.restoreAll();
    // The length is checked only after the record was read.
    assert.deepEqual(handler.names, ['add a', 'add b'].slice(0, handler.calls.length));
    const others = errors.filter((code) => !CODES.has(code));
    assert.deepEqual(others, []);
    assert.ok(informer.isStopped());
  });
}

test('C173 a shard that cannot resume where its predecessor was ends like one that throws', async () => {
  const twin = new ShardTwin({ isSuccessor: true });
  await twin.attach();
  assert.ok(twin.offerObject({ kind: DeltaKind.Added, name: 'a', resourceVersion: '1', json: '{}' }));
  twin.commit();
  twin.damageInput();
  assert.equal(twin.shard.doWork(), 0);
  twin.resume();
  assert.ok(twin.shard.hasWork());
  assert.throws(() => twin.shard.doWork(), { code: 'ERR_KUBELOOM_ASSERTION' });
});
