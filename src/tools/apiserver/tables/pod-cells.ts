/** The cells of a Pod, whose status is summed up from the states of the containers. */

import { members, objects, text } from '../store/causes.ts';
import { memberOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { ageAt, at, conditionOf, isCondition, valueAt } from './cell.ts';
import type { Cells } from './cell.ts';
import { since } from './duration.ts';

interface Restarts {
  count: number;
  /** End of the last container that was restarted; '' without a restart. */
  last: string;
}

interface Summary {
  reason: string;
  readyContainers: number;
  restarts: Restarts;
}

function countOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

function addRestarts(restarts: Restarts, container: JsonObject): void {
  restarts.count += countOf(container['restartCount']);
  const finished = text(valueAt(container, 'lastState.terminated.finishedAt'));
  if (finished > restarts.last) restarts.last = finished;
}

/** Returns the reason of a container that has ended. */
function endOf(terminated: JsonObject): string {
  const signal = countOf(terminated['signal']);
  const code = signal === 0 ? `ExitCode:${countOf(terminated['exitCode'])}` : `Signal:${signal}`;
  return text(terminated['reason']) || code;
}

function isSidecar(container: JsonObject | undefined): boolean {
  return container?.['restartPolicy'] === 'Always';
}

/** Sums up the init containers. Returns false as soon as one has still to end or to start. */
function addInitContainers(pod: KubeObject, summary: Summary, ofSidecars: Restarts): boolean {
  const specs = objects(valueAt(pod, 'spec.initContainers'));
  for (const [index, container] of objects(valueAt(pod, 'status.initContainerStatuses')).entries()) {
    const isSide = isSidecar(specs.find(({ name }) => name === container['name']));
    addRestarts(summary.restarts, container);
    if (isSide) addRestarts(ofSidecars, container);
    const state = members(container['state']);
    const terminated = state['terminated'] === undefined ? undefined : members(state['terminated']);
    if (terminated !== undefined && countOf(terminated['exitCode']) === 0) continue;
    if (isSide && memberOf(container, 'started') === true) {
      if (memberOf(container, 'ready') === true) summary.readyContainers++;
      continue;
    }
    const waiting = text(valueAt(state, 'waiting.reason'));
    if (terminated !== undefined) summary.reason = `Init:${endOf(terminated)}`;
    else if (waiting !== '' && waiting !== 'PodInitializing') summary.reason = `Init:${waiting}`;
    else summary.reason = `Init:${index}/${specs.length}`;
    return false;
  }
  return true;
}

function addContainers(pod: KubeObject, summary: Summary): void {
  let isRunning = false;
  let failure = '';
  for (const container of objects(valueAt(pod, 'status.containerStatuses')).toReversed()) {
    addRestarts(summary.restarts, container);
    const state = members(container['state']);
    const waiting = text(valueAt(state, 'waiting.reason'));
    if (waiting !== '') summary.reason = waiting;
    else if (state['terminated'] !== undefined) {
      const terminated = members(state['terminated']);
      summary.reason = endOf(terminated);
      if (countOf(terminated['exitCode']) !== 0) failure = summary.reason;
    } else if (memberOf(container, 'ready') === true && state['running'] !== undefined) {
      isRunning = true;
      summary.readyContainers++;
    }
  }
  if (summary.reason !== 'Completed') return;
  if (isRunning && isCondition(pod, 'Ready')) summary.reason = 'Running';
  else if (failure !== '') summary.reason = failure;
  else if (isRunning) summary.reason = 'NotReady';
}

function summaryOf(pod: KubeObject): Summary {
  const status = members(pod['status']);
  const phase = text(status['phase']);
  const isGated = conditionOf(pod, 'PodScheduled')?.['reason'] === 'SchedulingGated';
  const summary: Summary = {
    reason: isGated ? 'SchedulingGated' : text(status['reason']) || phase,
    readyContainers: 0,
    restarts: { count: 0, last: '' },
  };
  const ofSidecars: Restarts = { count: 0, last: '' };
  const isInitialized = addInitContainers(pod, summary, ofSidecars);
  if (isInitialized || isCondition(pod, 'Initialized')) {
    summary.restarts = ofSidecars;
    addContainers(pod, summary);
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (status['reason'] === 'NodeLost') summary.reason = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') summary.reason = 'Terminating';
  }
  return summary;
}

function readyText(pod: KubeObject): string {
  const sidecars = objects(valueAt(pod, 'spec.initContainers')).filter(isSidecar);
  const total = objects(valueAt(pod, 'spec.containers')).length + sidecars.length;
  return `${summaryOf(pod).readyContainers}/${total}`;
}

function gatesText(pod: KubeObject): string {
  const gates = objects(valueAt(pod, 'spec.readinessGates'));
  const open = gates.filter(({ conditionType }) => isCondition(pod, text(conditionType)));
  return gates.length === 0 ? '<none>' : `${open.length}/${gates.length}`;
}

export const POD: Cells = {
  Ready: readyText,
  Status: (pod) => summaryOf(pod).reason,
  Restarts: (pod, now) => {
    const { count, last } = summaryOf(pod).restarts;
    return count === 0 || last === '' ? `${count}` : `${count} (${since(last, now)} ago)`;
  },
  Age: ageAt('metadata.creationTimestamp'),
  IP: (pod) => text(objects(valueAt(pod, 'status.podIPs'))[0]?.['ip']) || '<none>',
  Node: at('spec.nodeName', '<none>'),
  'Nominated Node': at('status.nominatedNodeName', '<none>'),
  'Readiness Gates': gatesText,
};

const MESSAGES = new Map<Json | undefined, string>([
  ['Succeeded', 'The pod has completed successfully.'],
  ['Failed', 'The pod failed.'],
]);

/** Returns the conditions of the row of a Pod, which kubectl can hide when the Pod has ended. */
export function rowConditions(pod: KubeObject): JsonObject[] | undefined {
  const reason = members(pod['status'])['phase'];
  const message = MESSAGES.get(reason);
  return message === undefined ? undefined : [{ type: 'Completed', status: 'True', reason, message }];
}
