/** The metrics of the server: which are kept, and what changed. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { changesBetween, samplesOf, totalOf } from '../../../../src/tools/loadtest/run/server-metrics.ts';
import type { Samples } from '../../../../src/tools/loadtest/run/server-metrics.ts';

const WANTED = new Set(['events_total', 'memory_bytes']);

function samples(pods: number): Samples {
  const text = `# HELP events_total Events.
# TYPE events_total counter
events_total{kind="Pod",note="a \\"b\\", c"} ${pods}
events_total{kind="Lease",note=""} 5
other_total{kind="Pod"} 9
memory_bytes 1.5e+09 1700000000000
`;
  return samplesOf(text, WANTED);
}

it('a sample has its metric, its labels and its value', () => {
  assert.deepEqual(
    [...samples(3).values()],
    [
      { metric: 'events_total', labels: { kind: 'Pod', note: 'a \\"b\\", c' }, value: 3 },
      { metric: 'events_total', labels: { kind: 'Lease', note: '' }, value: 5 },
      { metric: 'memory_bytes', labels: {}, value: 1.5e9 },
    ],
  );
  assert.equal(totalOf(samples(3), 'events_total'), 8);
});

it('the changes are the metrics with another value, also those that were not there before', () => {
  assert.deepEqual(changesBetween(samples(3), samples(4)), [
    { metric: 'events_total', labels: { kind: 'Pod', note: 'a \\"b\\", c' }, before: 3, after: 4 },
  ]);
  assert.equal(changesBetween(new Map(), samples(3)).length, 3);
  assert.deepEqual(changesBetween(undefined, samples(3)), []);
});

it(
  'a line of millions of letters is read in a moment: no text is searched twice',
  { timeout: 60_000 },
  () => {
    const text = `events_total{${'a'.repeat(4_000_000)}} 1\nevents_total{kind="Pod"} 2\n`;
    assert.deepEqual(
      [...samplesOf(text, WANTED).values()].map(({ labels }) => labels),
      [{}, { kind: 'Pod' }],
    );
  },
);
