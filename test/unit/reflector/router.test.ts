/** The router's records in rings and log, read back as a shard reads them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeySpans, scanKey } from '../../../src/kube/json/key-spans.ts';
import { BLOCK_BYTES } from '../../../src/shared/log/log-layout.ts';
import { DeltaFlag, DeltaKind } from '../../../src/shared/record/delta.ts';
import { StampReader } from '../../../src/shared/stamps.ts';
import type { Router } from '../../../src/reflector/router.ts';
import { typeMetaOf } from '../../../src/reflector/router.ts';
import { FakeClock } from './fake-clock.ts';
import { Twin } from './twin.ts';
import type { Seen } from './twin.ts';

const TARGET = {
  informer: 7,
  objectBytesMax: 2 ** 20,
  kind: 'Pod',
  apiVersion: 'v1',
  typeMeta: typeMetaOf('Pod', 'v1'),
};

function offer(
  router: Router,
  json: string,
  kind: DeltaKind = DeltaKind.Added,
  objectBytesMax = 2 ** 20,
): boolean {
  // The object lies at an odd place in a larger chunk.
  const source = Buffer.from(`xxx${json}yyy`);
  const spans = new KeySpans();
  const end = source.length - 3;
  assert.ok(scanKey(source, 3, end, spans));
  return router.offerObject({ ...TARGET, objectBytesMax }, kind, source, 3, end, spans);
}

function pod(name: string, resourceVersion = '1', padding = 0): string {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, resourceVersion };
  return JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata, padding: 'x'.repeat(padding) });
}

function committed(twin: Twin): Seen[] {
  twin.router.commit();
  return twin.read();
}

describe('Router', () => {
  it('gives every object a sequence, its bytes and its key', () => {
    const twin = new Twin();
    const json = pod('web-0', '4711');
    assert.ok(offer(twin.router, json, DeltaKind.Modified));
    const [record, ...rest] = committed(twin);
    assert.deepEqual(rest, []);
    assert.ok(record);
    const { shard, hash, ...visible } = record;
    assert.deepEqual(visible, {
      sequence: 1,
      informer: 7,
      kind: 'Modified',
      flags: 0,
      epoch: 0,
      name: 'web-0',
      namespace: 'default',
      uid: 'uid-web-0',
      resourceVersion: '4711',
      json,
    });
    assert.equal(shard, (hash >>> 0) % 2);
  });

  it('routes by namespace and name: the same key to the same shard, all keys to all shards', () => {
    const twin = new Twin({ shards: 3 });
    for (let round = 0; round < 3; round++) {
      for (let number = 0; number < 90; number++) assert.ok(offer(twin.router, pod(`web-${number}`)));
    }
    twin.router.commit();
    const shards = new Map<string, number>();
    const counts = [0, 0, 0];
    for (const record of twin.read()) {
      assert.equal(shards.get(record.name) ?? record.shard, record.shard);
      shards.set(record.name, record.shard);
      counts[record.shard] = (counts[record.shard] ?? 0) + 1;
    }
    assert.ok(Math.min(...counts) > 30, `shards got ${counts.join(', ')}`);
  });

  it('fills in kind and apiVersion where a list leaves them out', () => {
    const twin = new Twin();
    const without = '{ "metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"9"},"spec":{}}';
    const custom = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}';
    assert.ok(offer(twin.router, without, DeltaKind.Replaced));
    assert.ok(offer(twin.router, custom, DeltaKind.Replaced));
    const [first, second] = committed(twin);
    assert.equal(first?.json, `{"kind":"Pod","apiVersion":"v1",${without.slice(2)}`);
    assert.deepEqual(
      [first?.name, first?.namespace, first?.uid, first?.resourceVersion],
      ['a', 'b', 'c', '9'],
    );
    assert.equal(second?.json, custom);
    assert.deepEqual([second?.namespace, second?.uid, second?.resourceVersion], ['', '', '']);
  });

  it('writes decoded copies of escaped names behind the object and hashes those', () => {
    const twin = new Twin();
    const plain = '{"kind":"Pod","metadata":{"name":"b\u00fc\u{1f600}","namespace":"n/s"}}';
    const escaped = '{"kind":"Pod","metadata":{"name":"b\\u00fc\\ud83d\\ude00","namespace":"n\\/s"}}';
    const half = '{"kind":"Pod","metadata":{"namespace":"n\\/s","name":"b\u00fc\u{1f600}"}}';
    for (const json of [plain, escaped, half]) assert.ok(offer(twin.router, json));
    const records = committed(twin);
    for (const record of records) {
      assert.deepEqual([record.namespace, record.name], ['n/s', 'b\u00fc\u{1f600}']);
      assert.equal(record.hash, records[0]?.hash);
    }
    assert.deepEqual(
      records.map((record) => record.json),
      [plain, escaped, half],
    );
  });

  it('keeps only the identity of an object over the limit, flagged', () => {
    const twin = new Twin();
    assert.ok(offer(twin.router, pod('sm\\', '5', 2000), DeltaKind.Modified, 1000));
    const [record] = committed(twin);
    assert.equal(record?.flags, DeltaFlag.TooLarge);
    assert.equal(record?.kind, 'Modified');
    assert.equal(
      record?.json,
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"sm\\\\","namespace":"default",' +
        '"uid":"uid-sm\\\\","resourceVersion":"5"}}',
    );
    assert.equal(record?.name, 'sm\\');
  });

  it('keeps only the identity of an object larger than the log', () => {
    const twin = new Twin({ logBytes: BLOCK_BYTES });
    assert.ok(offer(twin.router, pod('huge', '5', BLOCK_BYTES), DeltaKind.Added, 2 ** 30));
    assert.equal(committed(twin)[0]?.flags, DeltaFlag.TooLarge);
  });

  it('sends a control record to every shard with one sequence', () => {
    const twin = new Twin({ shards: 3 });
    assert.ok(twin.router.offerControl(DeltaKind.ReplaceEnd, 3, 12, '10045'));
    assert.ok(offer(twin.router, pod('a')));
    const [control, object] = committed(twin);
    assert.deepEqual(
      [control?.sequence, control?.kind, control?.informer, control?.epoch, control?.resourceVersion],
      [1, 'ReplaceEnd', 3, 12, '10045'],
    );
    assert.equal(object?.sequence, 2);
  });

  it('makes nothing visible before commit, then all tails, the committed word and the bells', () => {
    const twin = new Twin({ shards: 2, lastSequence: 99 });
    assert.ok(offer(twin.router, pod('a')));
    assert.equal(twin.committed.load(), 99);
    assert.deepEqual(twin.read(), []);
    assert.equal(twin.router.commit(), true);
    assert.equal(twin.committed.load(), 100);
    const [record] = twin.read();
    const rung = twin.bells.map((bell) => bell.load());
    assert.deepEqual(rung, record?.shard === 0 ? [1, 0] : [0, 1]);
    assert.equal(twin.router.commit(), false);
    assert.deepEqual(
      twin.bells.map((bell) => bell.load()),
      rung,
    );
  });

  it('counts sequences through the wrap of 32 bits', () => {
    const twin = new Twin({ lastSequence: 2 ** 32 - 3 });
    for (let number = 0; number < 5; number++) assert.ok(offer(twin.router, pod(`web-${number}`)));
    assert.ok(twin.router.offerControl(DeltaKind.Bookmark, 7, 0, '5'));
    assert.deepEqual(
      committed(twin).map((record) => record.sequence),
      [2 ** 32 - 2, 2 ** 32 - 1, 0, 1, 2, 3],
    );
    assert.equal(twin.committed.load(), 3);
  });

  it('refuses an object without room in its ring, uses no sequence for it, and takes it when there is room', () => {
    const twin = new Twin({ shards: 1, ringBytes: 1024 });
    let accepted = 0;
    while (offer(twin.router, pod(`web-${accepted}`))) accepted++;
    assert.ok(accepted > 5);
    assert.equal(twin.router.sequence, accepted);
    assert.equal(twin.router.offerControl(DeltaKind.Bookmark, 7, 0, '5'), false);
    twin.router.commit();
    assert.equal(twin.drain().length, accepted);
    assert.ok(offer(twin.router, pod('late')));
    twin.router.commit();
    assert.deepEqual(
      twin.drain().map((record) => [record.sequence, record.name]),
      [[accepted + 1, 'late']],
    );
  });

  it('sends a control record to no ring when one of them is full', () => {
    const twin = new Twin({ shards: 2, ringBytes: 1024 });
    while (offer(twin.router, pod('always-the-same')));
    const last = twin.router.sequence;
    assert.equal(twin.router.offerControl(DeltaKind.Bookmark, 7, 0, '5'), false);
    assert.equal(twin.router.sequence, last);
    twin.router.commit();
    assert.ok(twin.drain().every((record) => record.kind === 'Added'));
    assert.ok(twin.router.offerControl(DeltaKind.Bookmark, 7, 0, '5'));
  });

  it('refuses an object without room in the log until the main thread has merged', () => {
    const twin = new Twin({ shards: 1, ringBytes: 2 ** 20, logBytes: 2 * BLOCK_BYTES });
    const size = 2 ** 20 - 500;
    let accepted = 0;
    while (offer(twin.router, pod(`web-${accepted}`, '1', size))) accepted++;
    assert.equal(accepted, 8);
    twin.router.commit();
    // The rings are empty again, but the main thread still reads the bytes.
    assert.equal(twin.read().length, 8);
    assert.equal(offer(twin.router, pod('late', '1', size)), false);
    assert.ok(twin.router.offerControl(DeltaKind.Bookmark, 7, 0, '5'));
    twin.router.commit();
    twin.drain();
    assert.ok(offer(twin.router, pod('late', '1', size)));
    twin.router.commit();
    assert.equal(JSON.parse(twin.drain()[0]?.json ?? '').metadata.name, 'late');
  });

  it('stamps one sequence in 64 when a change has it, over the wrap of sequences', () => {
    const clock = new FakeClock();
    const lastSequence = 2 ** 32 - 65;
    const twin = new Twin({ lastSequence, clock });
    const stamps = new StampReader(twin.stamps);
    const next: (() => boolean)[] = [
      () => offer(twin.router, pod('web-0'), DeltaKind.Modified),
      () => offer(twin.router, pod('web-0'), DeltaKind.Deleted),
      () => offer(twin.router, pod('web-0'), DeltaKind.Replaced),
      () => twin.router.offerControl(DeltaKind.Bookmark, 7, 0, '5'),
    ];
    const stamped = next.map((offerSampled) => {
      twin.router.readMs = clock.now();
      assert.ok(offerSampled());
      const sampled = twin.router.sequence;
      assert.equal(sampled % 64, 0);
      clock.advance(3);
      for (let rest = 1; rest < 64; rest++) assert.ok(offer(twin.router, pod(`web-${rest}`)));
      committed(twin);
      const { readMs = 0, committedMs = 0 } = stamps.read(sampled) ?? {};
      return committedMs - readMs;
    });
    assert.deepEqual(stamped, [3, 3, 0, 0], 'an item of a list and a control record have none');
    assert.ok(twin.router.sequence < lastSequence, 'the sequences have wrapped');
  });
});
