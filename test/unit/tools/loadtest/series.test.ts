/** The columns of a run: each figure is in the second in which it was measured. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LatencyCounts } from '../../../../src/tools/loadtest/histogram.ts';
import { seriesOf } from '../../../../src/tools/loadtest/run/series.ts';
import type { Observed } from '../../../../src/tools/loadtest/run/series.ts';
import type { Write } from '../../../../src/tools/loadtest/write/generator.ts';

const STARTED_US = 5_000_000;

function write(dueMs: number, sentMs: number, answeredMs: number): Write {
  const us = (ms: number): number => STARTED_US + ms * 1000;
  const times = { dueUs: us(dueMs), sentUs: us(sentMs), answeredUs: us(answeredMs) };
  return { group: 0, n: 1, change: 'update', revision: 1, ...times };
}

function observed(change: Partial<Observed>): Observed {
  const nothing = { writes: [], deliveries: [], costs: new Map(), server: new Map() };
  return { durationMs: 2500, startedUs: STARTED_US, ...nothing, ...change };
}

it('a write counts in the seconds in which it was due, sent and answered, and is pending between them', () => {
  const writes = [write(100, 110, 130), write(900, 1100, 2200)];
  const { atMs, rateAsked, sent, answered, pending, latencyMs } = seriesOf(observed({ writes }));
  assert.deepEqual(atMs, [0, 1000, 2000]);
  assert.deepEqual(
    { rateAsked, sent, answered, pending },
    { rateAsked: [2, 0, 0], sent: [1, 1, 0], answered: [1, 0, 1], pending: [1, 1, 0] },
  );
  assert.deepEqual(latencyMs.dueToSent.max, [10, 200, null]);
  assert.deepEqual(latencyMs.sentToAnswered.max, [20, null, 1100]);
});

it('deliveries of all watchers are added up', () => {
  const delivery = (second: number, ms: number): Observed['deliveries'][number] => {
    const counts = new LatencyCounts();
    counts.observe(ms);
    return { second, changes: 3, latency: counts.data };
  };
  const deliveries = [delivery(1, 5), delivery(1, -2), delivery(9, 7)];
  const { delivered, latencyMs } = seriesOf(observed({ deliveries }));
  assert.deepEqual(delivered, [0, 6, 3]);
  assert.deepEqual(latencyMs.answeredToHandler.max, [null, 5, 7]);
});

it('costs of processes and gauges of the server have gaps where nothing was measured', () => {
  const cost = { cpu: 0.5, rssBytes: 7, loopDelayMs: 2 };
  const { processes, server } = seriesOf(
    observed({
      costs: new Map([['generator', [{ atMs: 1000, value: cost }]]]),
      server: new Map([['goroutines', [{ atMs: 2100, value: 3 }]]]),
    }),
  );
  assert.deepEqual(processes, [
    { name: 'generator', cpu: [null, 0.5, null], rssBytes: [null, 7, null], loopDelayMs: [null, 2, null] },
  ]);
  assert.deepEqual(server, [{ metric: 'goroutines', values: [null, null, 3] }]);
});
