/** Ages, tables and the columns of objects, as kubectl prints them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ageOf, humanDuration } from '../../../src/cli/age.ts';
import { columnsOf } from '../../../src/cli/columns.ts';
import { podSummary } from '../../../src/cli/pod-columns.ts';
import { Table } from '../../../src/cli/table.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('an age', () => {
  const cases: readonly (readonly [number, string])[] = [
    [-5000, '<invalid>'],
    [-500, '0s'],
    [0, '0s'],
    [119_999, '119s'],
    [2 * MINUTE, '2m'],
    [3 * MINUTE + 7000, '3m7s'],
    [10 * MINUTE + 59_000, '10m'],
    [179 * MINUTE, '179m'],
    [3 * HOUR, '3h'],
    [5 * HOUR + 30 * MINUTE, '5h30m'],
    [8 * HOUR + 30 * MINUTE, '8h'],
    [47 * HOUR, '47h'],
    [2 * DAY, '2d'],
    [3 * DAY + 4 * HOUR, '3d4h'],
    [8 * DAY + 4 * HOUR, '8d'],
    [729 * DAY, '729d'],
    [730 * DAY, '2y'],
    [3 * 365 * DAY + 12 * DAY, '3y12d'],
    [9 * 365 * DAY + 12 * DAY, '9y'],
  ];
  for (const [durationMs, text] of cases) {
    it(`of ${durationMs} ms is ${text}`, () => assert.equal(humanDuration(durationMs), text));
  }

  it('is unknown without a timestamp', () => {
    assert.equal(ageOf(undefined, NOW), '<unknown>');
    assert.equal(ageOf('yesterday', NOW), '<unknown>');
    assert.equal(ageOf('2026-01-01T11:59:00Z', NOW), '60s');
  });
});

describe('a table', () => {
  it('has headers once and keeps widths', () => {
    const table = new Table(['NAME', 'AGE']);
    assert.deepEqual(table.lines([['a-long-name', '1s']]), ['NAME          AGE', 'a-long-name   1s']);
    assert.deepEqual(table.lines([['b', '2s']]), ['b             2s']);
  });

  it('prints nothing, not even headers, when there are no rows', () => {
    const table = new Table(['NAME']);
    assert.deepEqual(table.lines([]), []);
    assert.deepEqual(table.lines([['a']]), ['NAME', 'a']);
  });

  it('escapes what an object could do to the terminal', () => {
    assert.deepEqual(new Table(['NAME']).lines([['\u001b[31mred\nnext']]), ['NAME', '\\x1b[31mred\\nnext']);
  });
});

const RUNNING = { ready: true, restartCount: 0, state: { running: {} } };

function summary(pod: object): string {
  const { ready, status, restarts } = podSummary(pod, NOW);
  return `${ready} ${status} ${restarts}`;
}

describe('the status of a pod', () => {
  const spec = { containers: [{ name: 'a' }, { name: 'b' }] };

  it('is its phase while nothing else is known', () => {
    assert.equal(summary({ spec, status: { phase: 'Pending' } }), '0/2 Pending 0');
    assert.equal(summary({}), '0/0 Unknown 0');
  });

  it('counts ready containers and restarts, with the time of the last', () => {
    const restarted = {
      ...RUNNING,
      restartCount: 3,
      lastState: { terminated: { finishedAt: '2026-01-01T11:55:00Z' } },
    };
    const status = { phase: 'Running', containerStatuses: [RUNNING, restarted] };
    assert.equal(summary({ spec, status }), '2/2 Running 3 (5m ago)');
  });

  it('is what a container waits for, or how it ended', () => {
    const waiting = { ready: false, restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff' } } };
    const ended = (terminated: object): object => ({ ready: false, restartCount: 0, state: { terminated } });
    const of = (status: object): string =>
      summary({ spec, status: { phase: 'Running', containerStatuses: [status, RUNNING] } });
    assert.equal(of(waiting), '1/2 CrashLoopBackOff 1');
    assert.equal(of(ended({ reason: 'OOMKilled', exitCode: 137 })), '1/2 OOMKilled 0');
    assert.equal(of(ended({ exitCode: 3 })), '1/2 ExitCode:3 0');
    assert.equal(of(ended({ signal: 9, exitCode: 137 })), '1/2 Signal:9 0');
    assert.equal(of(ended({ reason: 'Completed', exitCode: 0 })), '1/2 NotReady 0');
  });

  it('is the first init container that is not done', () => {
    const done = { restartCount: 0, state: { terminated: { exitCode: 0 } } };
    const pod = (...initContainerStatuses: object[]): object => ({
      spec: { ...spec, initContainers: [{ name: 'i0' }, { name: 'i1' }] },
      status: { phase: 'Pending', initContainerStatuses },
    });
    assert.equal(summary(pod(done, { restartCount: 2, state: { running: {} } })), '0/2 Init:1/2 2');
    assert.equal(
      summary(pod({ restartCount: 0, state: { waiting: { reason: 'ErrImagePull' } } })),
      '0/2 Init:ErrImagePull 0',
    );
    assert.equal(
      summary(pod({ restartCount: 0, state: { terminated: { reason: 'Error', exitCode: 1 } } })),
      '0/2 Init:Error 0',
    );
    assert.equal(summary(pod(done, done)), '0/2 Pending 0');
  });

  it('counts sidecars as containers', () => {
    const pod = {
      spec: { ...spec, initContainers: [{ name: 's', restartPolicy: 'Always' }] },
      status: {
        phase: 'Running',
        initContainerStatuses: [{ name: 's', started: true, ready: true, restartCount: 0 }],
        containerStatuses: [RUNNING, RUNNING],
      },
    };
    assert.equal(summary(pod), '3/3 Running 0');
  });

  it('is Terminating once it is being deleted, unless it is over', () => {
    const metadata = { deletionTimestamp: '2026-01-01T11:59:00Z' };
    assert.equal(summary({ metadata, spec, status: { phase: 'Running' } }), '0/2 Terminating 0');
    assert.equal(summary({ metadata, spec, status: { phase: 'Succeeded' } }), '0/2 Succeeded 0');
    const lost = { phase: 'Running', reason: 'NodeLost' };
    assert.equal(summary({ metadata, spec, status: lost }), '0/2 Unknown 0');
  });

  it('is SchedulingGated while it may not be scheduled', () => {
    const conditions = [{ type: 'PodScheduled', reason: 'SchedulingGated' }];
    assert.equal(summary({ spec, status: { phase: 'Pending', conditions } }), '0/2 SchedulingGated 0');
  });
});

describe('the columns of a kind', () => {
  const cells = (group: string, resource: string, object: object, isWide = false): string[] =>
    columnsOf({ group, version: 'v1', resource }, isWide).map(
      (column) => `${column.header}=${column.cell(object, NOW)}`,
    );

  it('are AGE alone for a kind that is not known, and survive an empty object', () => {
    assert.deepEqual(cells('example.com', 'widgets', {}), ['AGE=<unknown>']);
    for (const name of ['/pods', '/nodes', '/services', '/events', 'apps/deployments', 'batch/jobs']) {
      const [group = '', resource = ''] = name.split('/');
      assert.doesNotThrow(() => cells(group, resource, {}, true));
      assert.doesNotThrow(() => cells(group, resource, { metadata: null, spec: 7, status: [] }, true));
    }
  });

  it('have address and node of a pod only with wide', () => {
    const pod = { spec: { nodeName: 'node-1' }, status: { podIP: '10.0.0.1' } };
    assert.ok(!cells('', 'pods', pod).includes('NODE=node-1'));
    assert.deepEqual(cells('', 'pods', pod, true).slice(-2), ['IP=10.0.0.1', 'NODE=node-1']);
  });

  it('read a node, a service, a deployment and a job as kubectl does', () => {
    const node = {
      metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } },
      spec: { unschedulable: true },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    };
    assert.deepEqual(cells('', 'nodes', node).slice(0, 2), [
      'STATUS=Ready,SchedulingDisabled',
      'ROLES=control-plane',
    ]);
    const service = {
      spec: {
        type: 'NodePort',
        ports: [
          { port: 80, nodePort: 30_080 },
          { port: 53, protocol: 'UDP' },
        ],
      },
    };
    assert.ok(cells('', 'services', service).includes('PORT(S)=80:30080/TCP,53/UDP'));
    const deployment = { spec: { replicas: 3 }, status: { readyReplicas: 2 } };
    assert.equal(cells('apps', 'deployments', deployment)[0], 'READY=2/3');
    const job = { status: { conditions: [{ type: 'Failed', status: 'True' }] } };
    assert.equal(cells('batch', 'jobs', job)[0], 'STATUS=Failed');
  });
});
