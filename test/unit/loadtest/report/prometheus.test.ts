/** The Prometheus file of a load test, read by another program's parser. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { prometheusReport } from '../../../../src/loadtest/report/prometheus.ts';
import { sumOf } from '../../../../src/loadtest/histogram.ts';
import { exampleResult } from '../example-result.ts';

interface ParsedSample {
  readonly value?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly buckets?: Readonly<Record<string, string>>;
}

interface ParsedFamily {
  readonly name: string;
  readonly metrics: readonly ParsedSample[];
}

const parseText = createRequire(import.meta.url)('parse-prometheus-text-format') as (
  text: string,
) => readonly ParsedFamily[];

const result = exampleResult();
const text = prometheusReport(result);

/** The parser ignores labels of histograms: `part` is in the lines of the one that is read. */
function samples(name: string, part = ''): readonly ParsedSample[] {
  const lines = text.split('\n').filter((line) => line.startsWith('#') || line.includes(part));
  const families = parseText(`${lines.join('\n')}\n`);
  return families.find((family) => family.name === `kubeloom_loadtest_${name}`)?.metrics ?? [];
}

describe('the Prometheus file of a load test', () => {
  it('has the conclusion, the run and the thresholds', () => {
    assert.deepEqual(samples('conclusion'), [{ value: '1', labels: { kind: 'THRESHOLD' } }]);
    assert.equal(samples('info')[0]?.labels?.['seed'], '42');
    const met = samples('threshold_met').map(({ value, labels }) => [labels?.['threshold'], value]);
    assert.deepEqual(met, [
      ['answered→handler p99 < 500ms in steady', '1'],
      ['lost == 0', '1'],
      ['sync p99 < 1s', '0'],
    ]);
  });

  it('adds up the changes of each group by verdict', () => {
    const lost = samples('changes').find(
      ({ labels }) => labels?.['group'] === 'informers' && labels['verdict'] === 'delivered',
    );
    assert.equal(lost?.value, String(4 * 29_789));
  });

  it('has histograms in seconds whose counts are those of the result', () => {
    const part = 'step="answeredToHandler",phase="steady",group="informers"';
    const [histogram] = samples('latency_seconds', part);
    const wanted = result.latencies.filter(
      ({ step, phase, group }) => step === 'answeredToHandler' && phase === 'steady' && group === 'informers',
    );
    const { count, sumMs, minMs } = sumOf(wanted.map((each) => each.histogram));
    const line = (name: string): number =>
      Number(
        text
          .split('\n')
          .find((each) => each.includes(`_${name}{${part}}`))
          ?.split(' ')
          .at(-1),
      );
    assert.equal(line('count'), count);
    assert.ok(Math.abs(line('sum') - sumMs / 1000) < 1e-6);
    assert.ok(minMs !== null && minMs < 0, 'a part of the example is below 0');
    assert.ok(Number(histogram?.buckets?.['0']) > 0, 'and so is a part of the buckets');
    assert.ok(Number(histogram?.buckets?.['0']) < count);
    const cumulative = Object.entries(histogram?.buckets ?? {}).toSorted(
      ([one], [other]) => Number(one.replace('+Inf', 'Infinity')) - Number(other.replace('+Inf', 'Infinity')),
    );
    const counts = cumulative.map(([, value]) => Number(value));
    assert.deepEqual(
      counts,
      counts.toSorted((one, other) => one - other),
    );
    assert.equal(counts.at(-1), count);
  });

  it('leaves out figures that are absent', () => {
    assert.deepEqual(
      samples('received_bytes').map(({ labels }) => labels?.['group']),
      ['informers'],
    );
    assert.equal(samples('phase_rate_asked').length, 2);
  });
});
