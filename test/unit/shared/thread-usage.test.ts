/** Figures that a thread publishes, and its successor continues. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../../src/tools/apiserver/testing/fake-clock.ts';
import { UsageCounter, UsageWriter, allocateUsage, readUsage } from '../../../src/shared/thread-usage.ts';

test('a successor continues what its predecessor published, and begins with an empty log', () => {
  const buffer = allocateUsage();
  const first = new UsageWriter(buffer, new FakeClock());
  first.set(UsageCounter.Records, 10);
  first.set(UsageCounter.LogUsedBytes, 4096);
  first.publish();
  first.set(UsageCounter.Records, 12);
  const second = new UsageWriter(buffer, new FakeClock());
  second.set(UsageCounter.Records, 5);
  second.publish();
  assert.deepEqual([readUsage(buffer).records, readUsage(buffer).logUsedBytes], [15, 4096]);
  second.set(UsageCounter.LogUsedBytes, 1024);
  second.publish();
  assert.equal(readUsage(buffer).logUsedBytes, 1024);
});

test('a thread publishes its CPU time about once a second, and not while it does nothing', () => {
  const buffer = allocateUsage();
  const clock = new FakeClock();
  const writer = new UsageWriter(buffer, clock);
  writer.set(UsageCounter.LostWakeups, 1);
  writer.publishCpuTime(false);
  assert.equal(readUsage(buffer).lostWakeups, 1, 'its start is work');
  writer.set(UsageCounter.LostWakeups, 2);
  clock.advance(900);
  writer.publishCpuTime(true);
  assert.equal(readUsage(buffer).lostWakeups, 1);
  clock.advance(100);
  writer.publishCpuTime(false);
  assert.equal(readUsage(buffer).lostWakeups, 2);
  writer.set(UsageCounter.LostWakeups, 3);
  clock.advance(5000);
  writer.publishCpuTime(false);
  assert.equal(readUsage(buffer).lostWakeups, 2, 'it has not worked since');
});
