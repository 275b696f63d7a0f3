/** The objects that the generator writes, and the times at which it does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { seededRandom } from '../../../../src/base/random.ts';
import { arrivals } from '../../../../src/tools/loadtest/write/arrival.ts';
import {
  bodyOf,
  bytesFrom,
  labelsOf,
  namespaceOf,
  updateOf,
} from '../../../../src/tools/loadtest/write/kinds.ts';
import type {
  Load,
  ObjectGroup,
  ObjectKind,
  SizeDistribution,
} from '../../../../src/tools/loadtest/workload/workload.ts';

function times(
  from: number,
  to: number,
  durationMs: number,
  arrival: Load['arrival'] = 'constant',
): number[] {
  const load = { rate: { fromPerSecond: from, toPerSecond: to }, arrival };
  return [...arrivals(load, durationMs, seededRandom(1))];
}

describe('the times of writes', () => {
  it('are at equal distances at a constant rate', () => {
    assert.deepEqual(times(4, 4, 1000), [0, 250, 500, 750]);
    assert.equal(times(97, 97, 7000).length, 679);
  });

  it('add up for rates and durations that are not whole numbers', () => {
    assert.equal(times(0.5, 0.5, 10_000).length, 5);
    assert.equal(times(7.3, 7.3, 10_000).length, 73);
    assert.equal(times(100, 100, 1500).length, 150);
  });

  it('become denser second by second on a ramp', () => {
    const seconds = times(10, 40, 4000).map((ms) => Math.floor(ms / 1000));
    const counts = [0, 1, 2, 3].map((second) => seconds.filter((each) => each === second).length);
    assert.deepEqual(counts, [10, 20, 30, 40]);
  });

  it('are random around the rate with poisson arrival, and the same for the same seed', () => {
    const first = times(100, 100, 60_000, 'poisson');
    assert.ok(Math.abs(first.length - 6000) < 300, String(first.length));
    assert.deepEqual(times(100, 100, 60_000, 'poisson'), first);
    const gaps = first.slice(1).map((ms, index) => ms - (first[index] ?? 0));
    const short = gaps.filter((gap) => gap < 10).length / gaps.length;
    assert.ok(Math.abs(short - (1 - 1 / Math.E)) < 0.03, String(short));
  });

  it('ascend, and end before the phase', () => {
    for (const arrival of ['constant', 'poisson'] as const) {
      const all = times(33, 66, 2500, arrival);
      const ascending = all.toSorted((one, other) => one - other);
      assert.deepEqual(ascending, all);
      assert.ok((all.at(-1) ?? 0) < 2500);
    }
  });
});

describe('the sizes of objects', () => {
  function sizes(size: SizeDistribution): number[] {
    const random = seededRandom(2);
    return Array.from({ length: 20_000 }, () => bytesFrom(size, random)).sort((one, other) => one - other);
  }

  it('are all equal, or uniform between two bounds', () => {
    assert.equal(bytesFrom({ distribution: 'constant', bytes: 7 }, seededRandom(1)), 7);
    const uniform = sizes({ distribution: 'uniform', bytesMin: 10, bytesMax: 20 });
    assert.deepEqual([uniform[0], uniform.at(-1)], [10, 20]);
  });

  it('have the median and the 99th percentile of a lognormal distribution', () => {
    const lognormal = sizes({ distribution: 'lognormal', bytesP50: 1024, bytesP99: 65_536 });
    const [median = 0, high = 0] = [lognormal[10_000], lognormal[19_800]];
    assert.ok(Math.abs(median / 1024 - 1) < 0.1, String(median));
    assert.ok(Math.abs(high / 65_536 - 1) < 0.2, String(high));
    assert.ok((lognormal.at(-1) ?? 0) <= 2 ** 20);
  });
});

describe('an object', () => {
  const place = { run: '1a2b3c4d', namespaces: ['one', 'two'], nodes: ['fake-0'] };

  function group(kind: ObjectKind): ObjectGroup {
    const size = { distribution: 'constant', bytes: 4 } as const;
    return { kind, count: 3, namespaces: 2, size, labels: { app: ['web', 'db', 'api'] } };
  }

  it('has its namespace and its labels by its number', () => {
    const namespaces = [0, 1, 2].map((n) => namespaceOf(n, group('ConfigMap'), place));
    assert.deepEqual(namespaces, ['one', 'two', 'one']);
    assert.equal(labelsOf(4, group('ConfigMap'), place.run)['app'], 'db');
    assert.equal(labelsOf(4, group('ConfigMap'), place.run)['loadtest.kubeloom.dev/run'], place.run);
  });

  for (const kind of ['ConfigMap', 'Lease', 'Widget', 'Pod'] as const) {
    it(`of kind ${kind} differs after every update`, () => {
      const content = (count: number): object =>
        updateOf({ n: 0, count, bytes: 4 }, 'update', group(kind), place).body;
      assert.notDeepEqual(content(1), content(2));
      assert.match(JSON.stringify(bodyOf({ n: 0, count: 0, bytes: 4 }, group(kind), place)), /xxxx/);
    });
  }

  it('has its status updated where its kind has one', () => {
    const body = (kind: ObjectKind): object =>
      updateOf({ n: 0, count: 1, bytes: 4 }, 'status', group(kind), place).body;
    assert.deepEqual(body('Pod'), { status: { message: '1' } });
    assert.ok('spec' in body('Lease'));
  });

  it('of the realistic shape has what pods of clusters have, and keeps the run’s own labels and annotations', () => {
    const realistic = { ...group('Pod'), shape: 'realistic' } as const;
    const pod = bodyOf({ n: 1, count: 7, bytes: 4 }, realistic, place) as V1Pod;
    const { metadata: { labels = {}, annotations = {} } = {}, spec } = pod;
    assert.ok(Object.keys(labels).length >= 10 && Object.keys(annotations).length >= 10);
    assert.deepEqual([labels['app'], annotations['count'], annotations['padding']], ['db', '7', 'xxxx']);
    const containers = [spec?.initContainers?.length, spec?.containers.map(({ env = [] }) => env.length)];
    assert.deepEqual(containers, [2, [10, 0]]);
    assert.deepEqual([spec?.volumes?.length, spec?.nodeName], [2, 'fake-0']);
    const { body } = updateOf({ n: 1, count: 8, bytes: 4 }, 'status', realistic, place);
    const { status } = body as V1Pod;
    assert.deepEqual([status?.message, status?.conditions?.length], ['8', 5]);
    assert.equal(status?.containerStatuses?.length, 2);
  });
});
