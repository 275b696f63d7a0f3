/** The merge: one history out of several rings, by sequence, in whatever order records become visible. */
import { describe, test } from 'node:test';
import { isSampled } from '../../../../src/shared/record/delta.ts';
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import { DeltaKind } from '../../../../src/shared/record/delta.ts';
import { NotificationFlag, PrefixKind } from '../../../../src/shared/record/notification.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { at, wireObject } from '../store/objects.ts';
import type { ObjectSpec } from '../store/objects.ts';
import { FakeShards } from './fake-shards.ts';
import type { FakeShardsOptions, Write } from './fake-shards.ts';
import { MergingInformer } from './merging-informer.ts';

function setUp(options: FakeShardsOptions = {}): { shards: FakeShards; informer: MergingInformer } {
  const shards = new FakeShards(options);
  const informer = new MergingInformer({ shards: options.shards ?? 1 });
  shards.merger.attach(1, informer.merge);
  return { shards, informer };
}

/** Returns the sum of the latencies of each stage. */
function sumsOf({ merge }: MergingInformer): string[] {
  return merge.latency.data.map(([stage, { sum }]) => `${stage} ${sum}`);
}

interface History {
  /** Records that are not yet written to the rings, by shard. */
  readonly pending: Write[][];
  /** Notifications that the informer must receive. */
  readonly expected: string[];
  readonly objects: Map<string, ObjectSpec>;
}

/** Writes up to `count` records of one shard, as many as fit. */
function write(shards: FakeShards, pending: Write[], shard: number, count: number): void {
  let written = 0;
  while (written < count && pending[written]?.()) written++;
  pending.splice(0, written);
  shards.producers[shard]?.publish();
}

/** Returns a history of about `count` sequences. */
function history(shards: FakeShards, random: Random, count: number): History {
  const pending = shards.producers.map((): Write[] => []);
  const expected: string[] = [];
  const objects = new Map<string, ObjectSpec>();
  for (let version = 1; version <= count; version++) {
    const chance = random();
    if (chance < 0.08) {
      for (const [shard, records] of shards.control(DeltaKind.Bookmark, 0, String(version)).entries())
        pending[shard]?.push(...records);
      expected.push(`Bookmark ${version}`);
      continue;
    }
    const name = `n${wholeNumber(random, 0, 30)}`;
    const old = objects.get(name)?.version;
    const isDeletion = old !== undefined && chance < 0.2;
    const place = (['log', 'inline', 'parts'] as const)[wholeNumber(random, 0, 2)] ?? 'log';
    const isNothing = !isDeletion && old !== undefined && chance < 0.3;
    const spec = { ...at(name, version), spec: { text: 'ü'.repeat(wholeNumber(random, 0, 300)) } };
    const { shard, writes } = shards.object(spec, {
      kind: isDeletion ? DeltaKind.Deleted : DeltaKind.Modified,
      flags: isNothing ? NotificationFlag.Nothing : 0,
      place,
    });
    if (chance > 0.9) {
      const warning = Buffer.from(JSON.stringify({ code: 'ERR_TEST', message: 'm', key: name }));
      writes.unshift(shards.prefix(shard, PrefixKind.Warning, warning, { sequence: shards.sequence }));
      expected.push(`ERR_TEST ${name}`);
    }
    pending[shard]?.push(...writes);
    if (isNothing) continue;
    if (isDeletion) {
      objects.delete(name);
      expected.push(`delete ${name}@${version}`);
    } else {
      objects.set(name, spec);
      expected.push(old === undefined ? `add ${name}@${version}` : `update ${name}@${old}>${version}`);
    }
  }
  return { pending, expected, objects };
}

describe('the merge of several rings', () => {
  for (const [shardCount, merged] of [
    [1, 0],
    [2, 2 ** 32 - 300],
    [3, 2 ** 31 - 300],
    [4, 2 ** 32 - 1],
  ] as const) {
    test(`C3 C4 gives one history by sequence, from ${shardCount} rings, across ${merged}`, () => {
      const random = seededRandom(shardCount);
      // Small rings: most of the time a producer waits for room.
      const { shards, informer } = setUp({ shards: shardCount, ringBytes: 8192, merged, logBytes: 2 ** 20 });
      const { pending, expected, objects } = history(shards, random, 1200);
      for (let idle = 0; idle < 1000; idle++) {
        const shard = wholeNumber(random, 0, shardCount - 1);
        write(shards, pending[shard] ?? [], shard, wholeNumber(random, 0, 20));
        if (random() < 0.5 && shards.merger.hasWork()) {
          assert.ok(shards.merger.merge(wholeNumber(random, 1, 40)) > 0, 'hasWork() returned true');
          shards.merger.publish();
          idle = 0;
        }
      }
      assert.deepEqual(pending.flat(), [], 'all records were written');
      shards.drain();
      assert.deepEqual(informer.takeLog(), expected);
      for (const [name, spec] of objects) assert.deepEqual(informer.object(name), wireObject(spec));
      assert.equal(shards.merger.merged, shards.sequence);
      assert.equal(shards.merged.load(), shards.sequence);
      for (const memory of shards.memories) assert.equal(memory.head.load(), memory.tail.load());
    });
  }

  test('observes the latency of the sampled sequence where sequences wrap, and of its informer only', () => {
    const clock = new FakeClock();
    const { shards, informer } = setUp({ merged: 2 ** 32 - 2, clock });
    const other = new MergingInformer();
    shards.merger.attach(2, other.merge);
    for (const { merge } of [informer, other]) merge.latency.start({});
    const readMs = clock.now();
    for (const [spec, number] of [
      [at('a', 1), 2],
      [at('b', 2), 1],
      [at('c', 3), 2],
    ] as const) {
      shards.sendObject(spec, { informer: number });
      if (isSampled(shards.sequence)) shards.stamps.add(shards.sequence, readMs);
    }
    clock.advance(3);
    shards.stamps.commit();
    clock.advance(4);
    assert.equal(shards.drain(), 3);
    assert.deepEqual(sumsOf(informer), ['committed 0.003', 'merged 0.007']);
    assert.deepEqual(sumsOf(other), []);
    assert.equal(informer.merge.latency.merging, undefined);
  });

  test('C4 waits for the shard that has the next sequence', () => {
    const { shards, informer } = setUp({ shards: 2 });
    const first = shards.object(at('a', 1));
    const other = shards.object(at('b', 2));
    assert.notEqual(first.shard, other.shard);
    shards.send(other.shard, other.writes);
    assert.equal(shards.merger.hasWork(), false, 'polling it again would spin');
    assert.equal(shards.merger.merge(10), 0);
    shards.send(first.shard, first.writes);
    assert.equal(shards.merger.hasWork(), true);
    assert.equal(shards.drain(), 2);
    assert.deepEqual(informer.takeLog(), ['add a@1', 'add b@2']);
    assert.equal(shards.merger.hasWork(), false);
  });

  test('C5 takes a control record when every shard has answered it, once', () => {
    const { shards, informer } = setUp({ shards: 3 });
    const answers = shards.control(DeltaKind.Bookmark, 0, '77');
    for (const shard of [2, 0]) {
      shards.send(shard, answers[shard] ?? []);
      assert.equal(shards.merger.hasWork(), true);
      assert.equal(shards.drain(), 1);
      assert.deepEqual(informer.takeLog(), []);
      assert.equal(shards.merger.merged, 0);
    }
    const after = shards.object(at('b', 1));
    shards.send(after.shard, after.writes);
    assert.equal(shards.merger.hasWork(), false, 'what comes after waits as well');
    shards.send(1, answers[1] ?? []);
    shards.drain();
    assert.deepEqual(informer.takeLog(), ['Bookmark 77', 'add b@1']);
  });

  test('C4 C5 C14 applies a relist when the last shard has reported the ids that it did not contain', () => {
    const { shards, informer } = setUp({ shards: 2 });
    shards.sendControl(DeltaKind.ReplaceBegin, 1);
    for (const spec of [at('a', 1), at('b', 2), at('c', 3), at('d', 4)])
      shards.sendObject(spec, { kind: DeltaKind.Replaced });
    shards.sendControl(DeltaKind.ReplaceEnd, 1, '10');
    shards.drain();
    informer.takeLog();
    const [a, d] = [informer.entry('a'), informer.entry('d')];
    shards.sendControl(DeltaKind.ReplaceBegin, 2);
    shards.sendObject(at('d', 4), { kind: DeltaKind.Replaced });
    shards.sendObject(at('a', 9), { kind: DeltaKind.Replaced });
    const ends = shards.control(DeltaKind.ReplaceEnd, 2, '20');
    shards.send(0, ends[0] ?? []);
    shards.drain();
    assert.deepEqual(informer.takeLog(), ['ReplaceBegin']);
    assert.equal(informer.entry('a'), a);
    shards.send(1, ends[1] ?? []);
    shards.drain();
    const [lost1 = '', lost2 = '', ...rest] = informer.takeLog();
    assert.deepEqual([lost1, lost2].sort(), ['lost b@2', 'lost c@3']);
    assert.deepEqual(rest, ['update d@4>4', 'update a@1>9', 'ReplaceEnd 20']);
    assert.equal(informer.entry('d'), d, 'unchanged: the same entry');
  });

  test('C7 counts and ignores all records of a detached informer', () => {
    const { shards, informer } = setUp({ shards: 2 });
    shards.sendObject(at('a', 1));
    shards.sendObject(at('lost', 2), { informer: 9 });
    shards.sendObject({ ...at('parts', 3), spec: 'x'.repeat(500) }, { informer: 9, place: 'parts' });
    for (const [shard, writes] of shards.control(DeltaKind.ReplaceBegin, 1, '', 9).entries())
      shards.send(shard, writes);
    shards.sendObject(at('b', 4));
    shards.drain();
    assert.deepEqual(informer.takeLog(), ['add a@1', 'add b@4']);
    assert.equal(shards.merger.merged, shards.sequence);
    shards.merger.detach(1);
    shards.sendObject(at('c', 5));
    shards.drain();
    assert.deepEqual(informer.takeLog(), []);
    assert.equal(shards.merger.merged, shards.sequence);
  });
});

describe('returning memory', () => {
  test('the rings are released and the reflector is woken once per publication, when any record was taken', () => {
    const { shards } = setUp({ shards: 2 });
    shards.sendObject(at('a', 1));
    shards.sendObject(at('a', 2));
    const [memory0, memory1] = shards.memories;
    const heads = [memory0?.head.load(), memory1?.head.load()];
    shards.merger.merge(10);
    assert.deepEqual([memory0?.head.load(), memory1?.head.load()], heads, 'the records are still being read');
    assert.equal(shards.merged.load(), 0);
    shards.merger.publish();
    assert.equal(shards.merged.load(), 2);
    assert.equal(memory1?.head.load(), memory1?.tail.load());
    assert.deepEqual(shards.rung, [0, 0, 1], 'the shard waits for nothing');
    shards.merger.publish();
    assert.deepEqual(shards.rung, [0, 0, 1]);
  });

  test('a shard that found its ring full is woken', () => {
    const { shards } = setUp({ shards: 2, ringBytes: 4096 });
    for (let version = 1; ; version++) {
      const { shard, writes } = shards.object(at('a', version));
      assert.equal(shard, 1);
      const isWritten = writes[0]?.();
      shards.producers[1]?.publish();
      if (!isWritten) break;
    }
    shards.merger.merge(1);
    shards.merger.publish();
    assert.deepEqual(shards.rung, [0, 1, 1]);
  });

  test('an object of many times the ring’s size arrives in parts', () => {
    const { shards, informer } = setUp({ ringBytes: 4096 });
    const spec = { ...at('large', 1), spec: { text: 'ä'.repeat(20_000) } };
    const { writes } = shards.object(spec, { place: 'parts', partBytes: 400 });
    let written = 0;
    for (let round = 0; round < 1000 && written < writes.length; round++) {
      while (writes[written]?.()) written++;
      shards.producers[0]?.publish();
      assert.ok(shards.merger.hasWork());
      assert.ok(shards.merger.merge(256) > 0);
      shards.merger.publish();
    }
    assert.equal(written, writes.length, 'the ring never became free');
    shards.drain();
    assert.deepEqual(informer.object('large'), wireObject(spec));
  });

  test('one merge copies some megabytes at most, however many records are requested', () => {
    const { shards, informer } = setUp({ logBytes: 16 * 2 ** 20 });
    const text = 'x'.repeat(2 ** 20);
    for (let version = 1; version <= 8; version++) shards.sendObject({ ...at('a', version), spec: { text } });
    for (let merged = 2; merged <= 8; merged += 2) {
      assert.equal(shards.merger.merge(256), 2);
      assert.equal(shards.merger.merged, merged);
    }
    assert.deepEqual(informer.takeLog().at(-1), 'update a@7>8');
  });
});

describe('invalid records of a shard', () => {
  test('an unknown id fails an assertion instead of becoming an object without a name', () => {
    const { shards, informer } = setUp();
    const { shard, writes } = shards.object(at('a', 1));
    shards.send(shard, writes);
    shards.drain();
    informer.replica.live.remove(informer.replica.live.get('a'));
    shards.sendObject(at('a', 2));
    assert.throws(() => shards.drain(), { code: 'ERR_KUBELOOM_ASSERTION', message: /unknown id \(0\)/ });
  });

  test('a record of an unknown type is a coded error', () => {
    const { shards } = setUp();
    const [producer] = shards.producers;
    const offset = producer?.tryClaim(99, 8) ?? -1;
    if (producer) producer.words[offset >> 2] = 1;
    producer?.commit(8);
    producer?.publish();
    assert.throws(() => shards.drain(), { code: 'ERR_KUBELOOM_ASSERTION', message: /99/ });
  });
});

describe('new shards', () => {
  test('C173 begin with empty rings, and nothing is left of the records of the shards before them', () => {
    const { shards, informer } = setUp({ shards: 2 });
    shards.sendObject(at('a', 1));
    shards.drain();
    const [first = []] = shards.control(DeltaKind.ReplaceBegin, 1);
    shards.send(0, first);
    shards.drain();
    const parts = shards.object(at('b', 2), { place: 'parts' });
    shards.send(parts.shard, parts.writes.slice(0, -1));
    shards.drain();
    shards.restart();
    informer.merge.restart(true);
    assert.equal(shards.drain(), 0);
    shards.sendControl(DeltaKind.ReplaceBegin, 2);
    shards.sendObject(at('c', 3), { kind: DeltaKind.Replaced });
    shards.sendControl(DeltaKind.ReplaceEnd, 2, '9');
    shards.drain();
    assert.deepEqual([...informer.replica.live.keys()], ['c']);
  });
});
