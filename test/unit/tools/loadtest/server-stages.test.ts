/** The stages of the server: which lines of `/metrics` they are made of, and their difference over a phase. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { samplesOf } from '../../../../src/tools/loadtest/run/server-metrics.ts';
import {
  STAGE_NAMES,
  absentIn,
  stageQuantileMs,
  stageTitle,
  stagesBetween,
  stagesOf,
} from '../../../../src/tools/loadtest/run/server-stages.ts';
import type { StageReading } from '../../../../src/tools/loadtest/run/server-stages.ts';

const REQUEST = 'apiserver_request_duration_seconds';
const DISPATCH = 'apiserver_watch_events_dispatch_duration_seconds';
const RESOURCES = new Set(['configmaps']);
const LINES = new Set(
  [...STAGE_NAMES, 'other_seconds'].flatMap((name) => [`${name}_bucket`, `${name}_sum`, `${name}_count`]),
);

/** Returns the lines of a histogram. @param upTo observations up to 5 ms, up to 25 ms, and all */
function histogram(metric: string, labels: string, [first, second, all]: readonly number[], sum = 1): string {
  return `${metric}_bucket{${labels},le="0.005"} ${first}
${metric}_bucket{${labels},le="0.025"} ${second}
${metric}_bucket{${labels},le="+Inf"} ${all}
${metric}_sum{${labels}} ${sum}
${metric}_count{${labels}} ${all}
`;
}

function reading(...texts: readonly string[]): StageReading {
  return stagesOf(samplesOf(texts.join(''), LINES).values(), RESOURCES);
}

describe('the stages of the server', () => {
  const before = reading(histogram(REQUEST, 'resource="configmaps",verb="PUT"', [10, 10, 10], 0.1));

  it('are the observations between two readings, by the buckets that they fell into', () => {
    const after = reading(histogram(REQUEST, 'resource="configmaps",verb="PUT"', [70, 108, 110], 1.1));
    const [stage, ...others] = stagesBetween(before, after, 'steady');
    assert.deepEqual(others, []);
    assert.deepEqual(stage, {
      phase: 'steady',
      metric: REQUEST,
      stage: 'PUT',
      count: 100,
      sumMs: 1000,
      buckets: [
        [0, 5, 60],
        [5, 25, 38],
        [25, null, 2],
      ],
    });
    assert.equal(stageTitle(stage), 'request PUT');
    assert.equal(stageQuantileMs(stage, 0.3), 2.5);
    assert.equal(stageQuantileMs(stage, 0.98), 25);
    // The last bucket has no end.
    assert.equal(stageQuantileMs(stage, 0.99), 25);
  });

  it('add up versions, scopes and subresources, and leave out what the run does not write', () => {
    const after = reading(
      histogram(REQUEST, 'resource="configmaps",scope="resource",verb="PUT"', [10, 10, 10]),
      histogram(REQUEST, 'resource="configmaps",scope="namespace",verb="PUT"', [5, 5, 5]),
      histogram(REQUEST, 'resource="leases",scope="resource",verb="PUT"', [99, 99, 99]),
      histogram(REQUEST, 'resource="configmaps",verb="WATCH"', [0, 0, 7]),
      histogram('other_seconds', 'resource="configmaps"', [1, 1, 1]),
    );
    const counts = stagesBetween(new Map(), after, 'a').map(({ stage, count }) => [stage, count]);
    assert.deepEqual(counts, [['PUT', 15]]);
  });

  it('are in the order in which a write meets them', () => {
    const after = reading(
      histogram(DISPATCH, 'resource="configmaps",stage="total"', [1, 1, 1]),
      histogram('etcd_request_duration_seconds', 'operation="update",resource="configmaps"', [1, 1, 1]),
      histogram('apiserver_flowcontrol_request_wait_duration_seconds', 'execute="true"', [1, 1, 1]),
      histogram(REQUEST, 'resource="configmaps",verb="PUT"', [1, 1, 1]),
    );
    const titles = stagesBetween(new Map(), after, 'a').map((each) => stageTitle(each));
    assert.deepEqual(titles, ['wait for a seat', 'request PUT', 'etcd update', 'dispatch to watchers total']);
  });

  it('are counted from its start when the server has restarted', () => {
    const after = reading(histogram(REQUEST, 'resource="configmaps",verb="PUT"', [2, 3, 3], 0.02));
    const [stage] = stagesBetween(before, after, 'restart');
    assert.deepEqual([stage?.count, stage?.sumMs], [3, 20]);
  });

  it('are left out without an observation', () => {
    assert.deepEqual(stagesBetween(before, before, 'pause'), []);
  });

  it('are absent by name when no reading has their histogram', () => {
    const later = reading(histogram(DISPATCH, 'resource="configmaps",stage="total"', [1, 1, 1]));
    const absent = absentIn([before, later]);
    const offered = STAGE_NAMES.filter((name) => !absent.includes(name));
    assert.deepEqual(offered, [REQUEST, DISPATCH]);
  });
});
