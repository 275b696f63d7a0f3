/** Items of a list that are packed before they leave the shard. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DeltaFlag, DeltaKind } from '../../../src/shared/record/delta.ts';
import { samplePod } from '../../../src/tools/apiserver/load/sample-pod.ts';
import { seededRandom } from '../shared/ring/random.ts';
import { PLAIN, ShardTwin } from './shard-twin.ts';
import type { ObjectRecord, ShardTwinOptions } from './shard-twin.ts';

const POD_BYTES = 5000;
const PACKING = { packBytesMin: 0 };

function pod(index: number, kind: DeltaKind = DeltaKind.Replaced, data?: string): ObjectRecord {
  const object = samplePod({ index, namespace: 'default', bytes: POD_BYTES });
  const { name } = object.metadata;
  return { kind, namespace: 'default', name: name ?? '', json: JSON.stringify({ ...object, data }) };
}

function digits(seed: number, count: number): string {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => Math.floor(random() * 10)).join('');
}

/** Returns an object of random digits, which resembles no other. */
function noise(index: number, bytes: number): ObjectRecord {
  const json = `{"metadata":{"name":"n${index}"},"data":"${digits(index, bytes)}"}`;
  return { kind: DeltaKind.Replaced, name: `n${index}`, json };
}

async function listing(
  spec: Parameters<typeof ShardTwin.attached>[0],
  options: ShardTwinOptions = {},
): Promise<ShardTwin> {
  const twin = await ShardTwin.attached(spec, options);
  twin.control(DeltaKind.ReplaceBegin, 1);
  return twin;
}

/** Delivers the records, and checks that they arrive as they were sent. */
function deliver(twin: ShardTwin, records: readonly ObjectRecord[]): void {
  const before = twin.main.history.length;
  for (const record of records) twin.object(record);
  twin.settle();
  const texts = twin.main.history.slice(before).map(({ bytes }) => bytes.toString());
  assert.deepEqual(
    texts,
    records.map(({ json }) => String(json)),
  );
}

const range = <Made>(count: number, make: (index: number) => Made): Made[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('the items of a list', () => {
  test('leave the shard as a tenth of their bytes, and the few samples as they are', async () => {
    const twin = await listing(PACKING);
    deliver(
      twin,
      range(100, (index) => pod(index)),
    );
    const { packed, packedBytes, samples } = twin.main;
    assert.ok(samples >= 1 && samples <= 4, `${samples} samples`);
    assert.equal(packed, 100 - samples);
    assert.ok(packedBytes < (packed * POD_BYTES) / 8, `${packedBytes} bytes`);
  });

  test('are packed after a transform, in both codecs', async () => {
    for (const codec of ['json', 'msgpack'] as const) {
      const twin = await listing({ ...PACKING, codec, drop: ['metadata.managedFields'] });
      for (const record of range(50, (index) => pod(index))) twin.object(record);
      twin.settle();
      assert.ok(twin.main.packed > 40, `${codec}: ${twin.main.packed} packed`);
      for (const [index, { bytes }] of twin.main.history.entries()) {
        const { managedFields: _, ...metadata } = samplePod({
          index,
          namespace: 'default',
          bytes: POD_BYTES,
        }).metadata;
        const object =
          codec === 'json' ? JSON.parse(bytes.toString()) : twin.main.decoder.decode(bytes, 0, bytes.length);
        assert.deepEqual((object as { metadata: unknown }).metadata, metadata);
      }
    }
  });

  test('are packed as the same bytes in the next list', async () => {
    const twin = await listing(PACKING);
    const records = range(20, (index) => pod(index));
    deliver(twin, records);
    twin.control(DeltaKind.ReplaceEnd, 1);
    const { packed, samples } = twin.main;
    twin.control(DeltaKind.ReplaceBegin, 2);
    deliver(twin, records);
    assert.equal(twin.main.samples, samples);
    assert.equal(twin.main.packed - packed, 20);
  });

  test('are not packed before the list has `packBytesMin`, nor without it, nor for a transform of the main thread', async () => {
    const late = await listing({ packBytesMin: 9.5 * POD_BYTES });
    deliver(
      late,
      range(10, (index) => pod(index)),
    );
    assert.equal(late.main.samples + late.main.packed, 0);
    deliver(
      late,
      range(10, (index) => pod(10 + index)),
    );
    assert.equal(late.main.samples + late.main.packed, 10);
    for (const spec of [PLAIN, { ...PACKING, isRaw: true }]) {
      const twin = await listing(spec);
      deliver(
        twin,
        range(20, (index) => pod(index)),
      );
      assert.equal(twin.main.samples + twin.main.packed, 0);
    }
  });

  test('are not packed by the sum of several small lists', async () => {
    const twin = await listing({ packBytesMin: 10 * POD_BYTES });
    for (let list = 2; list < 6; list++) {
      deliver(
        twin,
        range(6, (index) => pod(index)),
      );
      twin.control(DeltaKind.ReplaceEnd, list - 1);
      twin.control(DeltaKind.ReplaceBegin, list);
    }
    assert.equal(twin.main.samples + twin.main.packed, 0);
  });

  test('are not packed if they are short, long, or larger than the limit', async () => {
    const twin = await listing(PACKING);
    const short = { ...noise(1, 10), json: '{"metadata":{"name":"n1"}}' };
    deliver(twin, [short, noise(2, 70_000), { ...noise(3, 5000), flags: DeltaFlag.TooLarge }]);
    assert.equal(twin.main.samples + twin.main.packed, 0);
  });

  test('rest for 2 MiB after a dictionary of samples that resemble nothing, and are packed again', async () => {
    const twin = await listing(PACKING, { logBytes: 4 * 2 ** 20 });
    // The fourteenth fits no more.
    deliver(
      twin,
      range(14, (index) => noise(index, 5000)),
    );
    const { samples } = twin.main;
    assert.ok(samples >= 13, `${samples} samples`);
    deliver(
      twin,
      range(10, (index) => pod(index)),
    );
    assert.equal(twin.main.samples + twin.main.packed, samples);
    const rest = Math.ceil(2 ** 21 / 60_000);
    deliver(
      twin,
      range(rest, (index) => noise(100 + index, 60_000)),
    );
    deliver(
      twin,
      range(10, (index) => pod(10 + index)),
    );
    assert.ok(twin.main.packed >= 8, `${twin.main.packed} packed`);
  });

  test('arrive complete when they wait for room in the ring while another shard of the thread packs', async () => {
    const waiting = await listing(PACKING, { outBytes: 4096 });
    const other = await listing(PACKING, { outBytes: 2 ** 18 });
    // Packed, the digits take several records of the small ring.
    const mixed = range(30, (index) => pod(index, DeltaKind.Replaced, digits(index, 900)));
    const expected: string[] = [];
    for (const record of mixed) {
      while (!waiting.offerObject(record)) {
        waiting.commit();
        waiting.work();
        deliver(other, [pod(expected.length)]);
        waiting.merge(1);
      }
      expected.push(String(record.json));
    }
    waiting.settle();
    assert.deepEqual(
      waiting.main.history.map(({ bytes }) => bytes.toString()),
      expected,
    );
    assert.ok(waiting.main.partsTotal > 0);
  });
});

test('changes of a watch arrive as they are, also after a packed list', async () => {
  const twin = await listing(PACKING);
  deliver(
    twin,
    range(20, (index) => pod(index)),
  );
  twin.control(DeltaKind.ReplaceEnd, 1);
  const { samples, packed } = twin.main;
  const changes = range(10, (index) => ({ ...pod(index, DeltaKind.Modified), resourceVersion: '2' }));
  deliver(twin, changes);
  assert.deepEqual([twin.main.samples, twin.main.packed], [samples, packed]);
});
