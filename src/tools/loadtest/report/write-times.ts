/** Where the time of a write went, phase by phase: the steps that the load test measured, and the server's stages between them. */
import { quantileMs, sumOf } from '../histogram.ts';
import type { LoadTestResult } from '../result.ts';
import { STAGE_NAMES, stageQuantileMs, stageTitle } from '../run/server-stages.ts';
import type { LatencyStep } from '../workload/workload.ts';
import { STEP_NAMES } from './figures.ts';

export interface WriteTime {
  readonly phase: string;
  readonly name: string;
  /** True for a stage of the server, by the server's clock. */
  readonly isServers: boolean;
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** The first stage after the answer: stages before it are within `sent to answered`. */
const FIRST_OF_WATCHES = STAGE_NAMES.indexOf('apiserver_watch_events_dispatch_duration_seconds');

/** Returns the times in the order in which a write meets them; times without an observation are left out. */
export function writeTimes(result: LoadTestResult): WriteTime[] {
  return result.phases
    .flatMap(({ name }) => [
      stepOf(result, name, 'dueToSent'),
      stepOf(result, name, 'sentToAnswered'),
      ...stagesOf(result, name, false),
      stepOf(result, name, 'answeredToHandler'),
      ...stagesOf(result, name, true),
    ])
    .filter(({ count }) => count > 0);
}

/** Returns what is missing of the server's stages, as sentences without an end. */
export function stageNotes({ serverStages: { absent, unread } }: LoadTestResult): string[] {
  return [
    ...(unread === null ? [] : [`the server's stages are incomplete: ${unread}`]),
    ...(absent.length === 0 ? [] : [`not offered by this server: ${absent.join(', ')}`]),
  ];
}

function stepOf({ latencies }: LoadTestResult, phase: string, step: LatencyStep): WriteTime {
  const own = latencies.filter((each) => each.phase === phase && each.step === step);
  const histogram = sumOf(own.map((each) => each.histogram));
  return {
    phase,
    name: STEP_NAMES[step],
    isServers: false,
    count: histogram.count,
    p50Ms: quantileMs(histogram, 0.5),
    p99Ms: quantileMs(histogram, 0.99),
  };
}

function stagesOf({ serverStages }: LoadTestResult, phase: string, isOfWatches: boolean): WriteTime[] {
  return serverStages.stages
    .filter((each) => each.phase === phase)
    .filter(({ metric }) => STAGE_NAMES.indexOf(metric) >= FIRST_OF_WATCHES === isOfWatches)
    .map((each) => ({
      phase,
      name: stageTitle(each),
      isServers: true,
      count: each.count,
      p50Ms: stageQuantileMs(each, 0.5),
      p99Ms: stageQuantileMs(each, 0.99),
    }));
}
