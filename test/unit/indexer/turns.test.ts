/** Duration of a shard's turns, and its heartbeat. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShardSpec } from '../../../src/shared/protocol.ts';
import { UsageCounter } from '../../../src/shared/thread-usage.ts';
import * as transforms from './modules/transforms.ts';
import { ShardTwin } from './shard-twin.ts';

const RECORDS = 8;
const url = new URL('./modules/transforms.js', import.meta.url).href;
const SLOW: Partial<ShardSpec> = { transformModule: { url, name: 'slow' } };

async function filled(spec: Partial<ShardSpec>): Promise<ShardTwin> {
  const twin = await ShardTwin.attached(spec, { inBytes: 16_384 });
  for (let version = 1; version <= RECORDS; version++) {
    assert.ok(twin.offerObject({ name: 'a', resourceVersion: `${version}` }));
  }
  twin.commit();
  return twin;
}

test('C173 a shard with a slow module publishes every few milliseconds', async () => {
  const twin = await filled(SLOW);
  transforms.during.slow = () => twin.clock.advance(3);
  assert.equal(twin.work(), 2);
  assert.equal(twin.merge(), 2);
  transforms.during.slow = () => twin.clock.advance(1000);
  assert.equal(twin.work(), 1);
  assert.equal(twin.merge(), 1);
  twin.settle();
  assert.equal(twin.shard.usage.values[UsageCounter.Records], RECORDS);
});

test('C173 a shard increments its heartbeat with every record, however slow they are together', async () => {
  const twin = await filled(SLOW);
  const beats: number[] = [];
  transforms.during.slow = () => beats.push(twin.heartbeat.load());
  twin.work();
  assert.equal(new Set(beats).size, RECORDS);
});

test('a shard without modules reads the clock once for many small records', async () => {
  const twin = await filled({});
  let looks = 0;
  const now = twin.clock.now.bind(twin.clock);
  twin.clock.now = () => (looks++, now());
  assert.equal(twin.work(), RECORDS);
  assert.equal(looks, 1);
});

test("C173 a successor takes over its predecessor's keys in parts, and increments its heartbeat with each", async () => {
  const twin = await ShardTwin.attached({}, { isSuccessor: true });
  const ids = Array.from({ length: 2000 }, (_, id) => {
    const name = `n${id}`;
    return { id, identity: { key: name, namespace: '', name }, version: 5 };
  });
  const now = twin.clock.now.bind(twin.clock);
  twin.clock.now = () => (twin.clock.advance(3), now());
  const before = twin.heartbeat.load();
  twin.inheritLater(ids);
  let turns = 0;
  for (; twin.shard.hasWork(); turns++) twin.shard.doWork();
  assert.equal(turns, 3);
  assert.equal(twin.heartbeat.load() - before, 5);
});

test('C175 a shard drops quarantined sequences when it has passed them, because the numbers occur again', async () => {
  const twin = await ShardTwin.attached({}, { isSuccessor: true });
  twin.resume([1]);
  twin.work(1);
  const send = (resourceVersion: string): void => {
    assert.ok(twin.offerObject({ name: 'a', resourceVersion }));
    twin.commit();
    twin.work();
    twin.merge();
  };
  send('1');
  for (let quarter = 0; quarter < 4; quarter++) {
    twin.skipSequences(quarter === 3 ? 2 ** 30 - 1 : 2 ** 30);
    twin.commit();
    twin.work();
  }
  send('2');
  assert.deepEqual(
    twin.main.warnings.map(({ code }) => code),
    ['ERR_KUBELOOM_QUARANTINED'],
  );
});
