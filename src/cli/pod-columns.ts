/** READY, STATUS and RESTARTS of a pod, by the rules of kubectl's printer (pkg/printers, printPod). */
import { humanDuration } from './age.ts';
import { conditionOf, listAt, numberAt, textAt, valueAt } from '../kube/wire-path.ts';

export interface PodSummary {
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
}

interface Progress {
  readonly reason: string;
  readonly restarts: number;
  readonly lastRestart: number;
  readonly readySidecars: number;
}

export function podSummary(pod: unknown, now: number): PodSummary {
  const initial = initialReason(pod);
  const initializing = initProgress(pod, initial);
  const running = containerProgress(pod, initializing?.reason ?? initial);
  const isInitializing = initializing !== undefined && initializing.reason.startsWith('Init:');
  const progress = isInitializing ? initializing : running;
  const sidecars = sidecarNames(pod).size;
  const total = listAt(pod, 'spec.containers').length + sidecars;
  const ready = readyContainers(pod) + (initializing?.readySidecars ?? 0);
  return {
    ready: `${ready}/${total}`,
    status: withDeletion(pod, progress.reason),
    restarts: restartsText(progress, now),
  };
}

function initialReason(pod: unknown): string {
  const gated = listAt(pod, 'status.conditions').find(
    (condition) =>
      textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'reason') === 'SchedulingGated',
  );
  if (gated !== undefined) return 'SchedulingGated';
  return textAt(pod, 'status.reason') || textAt(pod, 'status.phase', 'Unknown');
}

/** Init containers run one after another: the first that is not done decides the status. */
function initProgress(pod: unknown, initial: string): Progress | undefined {
  const statuses = listAt(pod, 'status.initContainerStatuses');
  if (statuses.length === 0) return undefined;
  const sidecars = sidecarNames(pod);
  const total = listAt(pod, 'spec.initContainers').length;
  let readySidecars = 0;
  for (const [index, status] of statuses.entries()) {
    const isSidecar = sidecars.has(textAt(status, 'name'));
    if (isSidecar && valueAt(status, 'started') === true) {
      if (valueAt(status, 'ready') === true) readySidecars++;
      continue;
    }
    const exit = valueAt(status, 'state.terminated');
    if (exit !== undefined && numberAt(exit, 'exitCode') === 0) continue;
    const waiting = textAt(status, 'state.waiting.reason');
    const hasReason = waiting !== '' && waiting !== 'PodInitializing';
    const reason =
      exit !== undefined
        ? `Init:${exitReason(exit)}`
        : hasReason
          ? `Init:${waiting}`
          : `Init:${index}/${total}`;
    return { reason, ...restartsOf(statuses), readySidecars };
  }
  return { reason: initial, restarts: 0, lastRestart: 0, readySidecars };
}

function containerProgress(pod: unknown, initial: string): Progress {
  const statuses = listAt(pod, 'status.containerStatuses');
  let reason = initial;
  let hasRunning = false;
  // Goes from the last to the first, so that the first container decides.
  for (const status of statuses.toReversed()) {
    const exit = valueAt(status, 'state.terminated');
    const waiting = textAt(status, 'state.waiting.reason');
    if (waiting !== '') reason = waiting;
    else if (exit !== undefined) reason = exitReason(exit);
    else if (isReadyAndRunning(status)) hasRunning = true;
  }
  if (reason === 'Completed' && hasRunning) {
    reason = conditionOf(pod, 'Ready') === 'True' ? 'Running' : 'NotReady';
  }
  return { reason, ...restartsOf(statuses), readySidecars: 0 };
}

function exitReason(exit: unknown): string {
  const reason = textAt(exit, 'reason');
  if (reason !== '') return reason;
  const signal = numberAt(exit, 'signal');
  return signal === 0 ? `ExitCode:${numberAt(exit, 'exitCode')}` : `Signal:${signal}`;
}

function isReadyAndRunning(status: unknown): boolean {
  return valueAt(status, 'ready') === true && valueAt(status, 'state.running') !== undefined;
}

function readyContainers(pod: unknown): number {
  return listAt(pod, 'status.containerStatuses').filter(isReadyAndRunning).length;
}

/** Init containers that stay: `restartPolicy: Always`. */
function sidecarNames(pod: unknown): ReadonlySet<string> {
  const containers = listAt(pod, 'spec.initContainers');
  const sidecars = containers.filter((container) => textAt(container, 'restartPolicy') === 'Always');
  return new Set(sidecars.map((container) => textAt(container, 'name')));
}

function restartsOf(statuses: readonly unknown[]): { restarts: number; lastRestart: number } {
  let restarts = 0;
  let lastRestart = 0;
  for (const status of statuses) {
    restarts += numberAt(status, 'restartCount');
    const finished = Date.parse(textAt(status, 'lastState.terminated.finishedAt'));
    if (finished > lastRestart) lastRestart = finished;
  }
  return { restarts, lastRestart };
}

function restartsText({ restarts, lastRestart }: Progress, now: number): string {
  if (restarts === 0 || lastRestart === 0) return String(restarts);
  return `${restarts} (${humanDuration(now - lastRestart)} ago)`;
}

function withDeletion(pod: unknown, reason: string): string {
  if (textAt(pod, 'metadata.deletionTimestamp') === '') return reason;
  if (textAt(pod, 'status.reason') === 'NodeLost') return 'Unknown';
  const isOver = ['Succeeded', 'Failed'].includes(textAt(pod, 'status.phase'));
  return isOver ? reason : 'Terminating';
}
