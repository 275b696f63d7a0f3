/** Thresholds of a workload: their grammar and what keeps them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { meets, parseThreshold } from '../../../../src/tools/loadtest/workload/threshold.ts';

describe('a threshold', () => {
  for (const [line, parsed] of [
    [
      'answered→handler p99 < 500ms in steady 2',
      {
        subject: { type: 'latency', step: 'answeredToHandler', statistic: 'p99' },
        phase: 'steady 2',
        operator: '<',
        value: 500,
      },
    ],
    [
      'due->sent  max<=0.5s',
      { subject: { type: 'latency', step: 'dueToSent', statistic: 'max' }, operator: '<=', value: 500 },
    ],
    ['sync p999 < 10s', { subject: { type: 'sync', statistic: 'p999' }, operator: '<', value: 10_000 }],
    ['lost == 0', { subject: { type: 'count', count: 'lost' }, operator: '==', value: 0 }],
    [
      'terminated watches == 0',
      { subject: { type: 'count', count: 'terminatedWatches' }, operator: '==', value: 0 },
    ],
    [
      'apiserver_watch_events_total > 10',
      { subject: { type: 'server', metric: 'apiserver_watch_events_total' }, operator: '>', value: 10 },
    ],
  ] as const) {
    it(`is read from ${line}`, () => {
      const { text: _text, ...rest } = parseThreshold(line);
      assert.deepEqual(rest, parsed);
    });
  }

  for (const [line, error] of [
    ['lost', /a figure, an operator and a value/],
    ['lost =< 0', /=< is no operator: use < <= == >= >/],
    ['lsot == 0', /lsot is no figure: use due→sent, /],
    ['answered→handler < 5ms', /answered→handler needs one of p50, /],
    ['sync p42 < 5ms', /sync needs one of/],
    ['sync p99 < 5', /sync needs a unit: 5ms or 5s/],
    ['sync p99 < 5d', /5d is no value/],
    ['lost max == 0', /lost has no max/],
    ['lost == 0 in steady', /lost is measured for the whole run/],
  ] as const) {
    it(`is refused as ${line}`, () => {
      assert.throws(() => parseThreshold(line), { code: 'ERR_KUBELOOM_WORKLOAD', message: error });
    });
  }

  it('is kept or missed by its operator', () => {
    const limit = (operator: string): ReturnType<typeof parseThreshold> =>
      parseThreshold(`lost ${operator} 2`);
    const kept = (operator: string): number[] => [1, 2, 3].filter((figure) => meets(figure, limit(operator)));
    assert.deepEqual(['<', '<=', '==', '>=', '>'].map(kept), [[1], [1, 2], [2], [2, 3], [3]]);
  });
});

it('a line longer than 500 characters is refused unread', () => {
  assert.throws(() => parseThreshold(`x${'<'.repeat(4_000_000)}`), {
    code: 'ERR_KUBELOOM_WORKLOAD',
    message: 'a threshold has at most 500 characters',
  });
});
