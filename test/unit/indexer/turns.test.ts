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
