/**
 * Ring headers with contents that no thread writes: new threads begin, and no wrong object is delivered.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { SharedIndexInformer } from '../../../src/index.ts';
import { FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { RingMemory } from '../../../src/shared/ring/ring.ts';
import { LENGTH_WORD, TYPE_WORD } from '../../../src/shared/ring/ring-layout.ts';
import { Word } from '../../../src/shared/ring/word.ts';
import { InformerThreads } from '../../../src/informer/threads/informer-threads.ts';
import { allocatePipeline } from '../../../src/shared/pipeline-layout.ts';
import { PODS, pod } from '../../kit/objects.ts';
import { RecordingHandler } from '../../kit/recording-handler.ts';

const MIB = 2 ** 20;

const DAMAGES = [
  { what: 'a length of nothing', word: LENGTH_WORD, value: 0 },
  { what: 'a length beyond the ring', word: LENGTH_WORD, value: 2 ** 28 },
  { what: 'an unknown type', word: TYPE_WORD, value: 77 },
].flatMap((damage) => (['toMain', 'toShard'] as const).map((to) => ({ ...damage, to })));

/** Damages the next record of the ring, between its writing and its publication. */
function damage(
  { mock }: TestContext,
  ring: RingMemory,
  word: number,
  value: number,
  isDue: () => boolean,
): void {
  const store: unknown = Reflect.get(Word.prototype, 'store');
  assert.ok(typeof store === 'function');
  mock.method(Word.prototype, 'store', function damaging(this: Word, stored: number): void {
    const place = ring.tail.load() & (ring.capacity - 1);
    if (isDue()) ring.words[(place >> 2) + word] = value;
    Reflect.apply(store, this, [stored]);
  });
}

for (const { to, what, word, value } of DAMAGES) {
  test(`C196 after a record with ${what} in the ring ${to}, new threads list again, and no wrong object is delivered`, async (t) => {
    const memory = allocatePipeline(1, 16 * MIB, 64 * 1024);
    await using threads = new InformerThreads({ indexerThreads: 0, logBytes: 16 * MIB }, { memory });
    const source = new FakeControllerSource();
    const errors: string[] = [];
    await using informer = new SharedIndexInformer(source, PODS, {
      threads,
      onError: (error) => errors.push(error.code),
    });
    const handler = new RecordingHandler();
    informer.addEventHandler(handler);
    source.add({ ...pod('a') });
    void informer.run();
    await settled(informer);
    const ring = new RingMemory(memory[to][0] as SharedArrayBuffer);
    damage(t, ring, word, value, () => errors.length === 0);
    source.add({ ...pod('b') });
    await handler.until(() => handler.changedNames.length === 2);
    source.add({ ...pod('c') });
    await settled(informer);
    assert.deepEqual(handler.changedNames, ['add a', 'add b', 'add c']);
    assert.deepEqual(errors, ['ERR_KUBELOOM_THREAD_RESTARTED']);
    assert.equal(informer.getStore().list().length, 3);
  });
}

test('C196 rings that are damaged again and again end the informers with a code', async (t) => {
  const memory = allocatePipeline(1, 16 * MIB, 64 * 1024);
  await using threads = new InformerThreads({ indexerThreads: 0, logBytes: 16 * MIB }, { memory });
  const codes: string[] = [];
  const source = new FakeControllerSource();
  source.add({ ...pod('a') });
  const informer = new SharedIndexInformer(source, PODS, {
    threads,
    onError: (error) => codes.push(error.code),
  });
  damage(t, new RingMemory(memory.toMain[0] as SharedArrayBuffer), LENGTH_WORD, 0, () => true);
  await assert.rejects(informer.run(), { code: 'ERR_KUBELOOM_THREAD' });
  assert.equal(codes.filter((code) => code === 'ERR_KUBELOOM_THREAD_RESTARTED').length, 10);
  assert.equal(codes.at(-1), 'ERR_KUBELOOM_THREAD');
});
