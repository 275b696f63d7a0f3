/** The cells of a Pod in the states that a kubelet reports, because no kubelet runs beside the servers of the other tests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../../src/tools/apiserver/store/json.ts';
import { textOf } from '../../../../../src/tools/apiserver/store/json.ts';
import { POD, rowConditions } from '../../../../../src/tools/apiserver/tables/pod-cells.ts';

const NOW = Date.parse('2024-01-01T01:00:00Z');
const MAIN = { name: 'main' };

function pod(status: JsonObject, spec: JsonObject = {}, metadata: JsonObject = {}): string {
  const object = { metadata, spec: { containers: [MAIN], ...spec }, status };
  return ['Ready', 'Status', 'Restarts'].map((name) => textOf(POD[name]?.(object, NOW))).join(' ');
}

function container(state: JsonObject, more: JsonObject = {}): JsonObject {
  return { name: 'main', restartCount: 0, ready: false, state, ...more };
}

const READY = { conditions: [{ type: 'Ready', status: 'True' }] };
const RUNNING = container({ running: {} }, { ready: true });
const SIDECAR = { name: 'side', restartPolicy: 'Always' };

describe('the cells of a Pod', () => {
  it('show the phase, or the reason of the status', () => {
    assert.equal(pod({ phase: 'Pending' }), '0/1 Pending 0');
    assert.equal(pod({ phase: 'Failed', reason: 'Evicted' }), '0/1 Evicted 0');
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }];
    assert.equal(pod({ phase: 'Pending', conditions }), '0/1 SchedulingGated 0');
  });

  it('show the reason of a container that waits or has ended', () => {
    const of = (state: JsonObject): string =>
      pod({ phase: 'Running', containerStatuses: [container(state)] });
    assert.equal(of({ waiting: { reason: 'CrashLoopBackOff' } }), '0/1 CrashLoopBackOff 0');
    assert.equal(of({ terminated: { exitCode: 2 } }), '0/1 ExitCode:2 0');
    assert.equal(of({ terminated: { exitCode: 137, signal: 9 } }), '0/1 Signal:9 0');
    assert.equal(of({ terminated: { exitCode: 1, reason: 'Error' } }), '0/1 Error 0');
  });

  it('count restarts, with the time of the last restart', () => {
    const lastState = { terminated: { finishedAt: '2024-01-01T00:50:00Z' } };
    const status = container({ running: {} }, { ready: true, restartCount: 3, lastState });
    assert.equal(pod({ phase: 'Running', containerStatuses: [status] }), '1/1 Running 3 (10m ago)');
  });

  it('show a completed container as the others allow', () => {
    const done = container({ terminated: { exitCode: 0, reason: 'Completed' } });
    const both = { containers: [MAIN, MAIN] };
    assert.equal(
      pod({ phase: 'Running', containerStatuses: [done, RUNNING], ...READY }, both),
      '1/2 Running 0',
    );
    assert.equal(pod({ phase: 'Running', containerStatuses: [done, RUNNING] }, both), '1/2 NotReady 0');
    const failed = container({ terminated: { exitCode: 1, reason: 'Error' } });
    assert.equal(pod({ phase: 'Failed', containerStatuses: [done, failed] }, both), '0/2 Error 0');
  });

  it('show init containers until all have ended', () => {
    const initContainers = [{ name: 'one' }, { name: 'two' }];
    const of = (...states: JsonObject[]): string => {
      const statuses = states.map((state, index) => ({
        ...container(state),
        name: ['one', 'two'][index] ?? '',
      }));
      return pod({ phase: 'Pending', initContainerStatuses: statuses }, { initContainers });
    };
    const ended = { terminated: { exitCode: 0 } };
    assert.equal(of(ended, { running: {} }), '0/1 Init:1/2 0');
    assert.equal(of({ terminated: { exitCode: 3 } }), '0/1 Init:ExitCode:3 0');
    assert.equal(of({ waiting: { reason: 'ErrImagePull' } }), '0/1 Init:ErrImagePull 0');
    assert.equal(of(ended, ended), '0/1 Pending 0');
  });

  it('count a sidecar among the containers', () => {
    const side = {
      ...container({ running: {} }, { ready: true, started: true, restartCount: 2 }),
      name: 'side',
    };
    const status = { phase: 'Running', initContainerStatuses: [side], containerStatuses: [RUNNING] };
    assert.equal(pod(status, { initContainers: [SIDECAR] }), '2/2 Running 2');
  });

  it('show that a Pod is being deleted, and that its node is lost', () => {
    const metadata = { deletionTimestamp: '2024-01-01T00:00:00Z' };
    assert.equal(pod({ phase: 'Running' }, {}, metadata), '0/1 Terminating 0');
    assert.equal(pod({ phase: 'Running', reason: 'NodeLost' }, {}, metadata), '0/1 Unknown 0');
    assert.equal(pod({ phase: 'Succeeded' }, {}, metadata), '0/1 Succeeded 0');
  });

  it('mark the row of a Pod that has ended', () => {
    assert.equal(rowConditions({ metadata: {}, status: { phase: 'Running' } }), undefined);
    const [condition] = rowConditions({ metadata: {}, status: { phase: 'Failed' } }) ?? [];
    assert.deepEqual([condition?.['type'], condition?.['reason']], ['Completed', 'Failed']);
  });
});
