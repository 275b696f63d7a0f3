/** Latencies of the last seconds. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RecentLatencies } from '../../../../src/tools/loadtest/write/recent-latencies.ts';

it('latencies are forgotten after 5 s', () => {
  const latencies = new RecentLatencies();
  assert.equal(latencies.quantiles(0), null);
  for (let second = 0; second < 10; second++) latencies.observe(second * 1e6, second + 1);
  assert.equal(latencies.quantiles(9e6)?.max, 10);
  const p50 = latencies.quantiles(9e6)?.p50 ?? 0;
  assert.ok(p50 > 7 && p50 < 9, String(p50));
  assert.equal(latencies.quantiles(13.5e6)?.p50, 10);
  assert.equal(latencies.quantiles(14e6), null);
});
