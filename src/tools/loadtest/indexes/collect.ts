/** Merges the parts of a run's indexes into a result, judges the result, and removes the run. */
import { randomBytes } from 'node:crypto';
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { realClock } from '../../../base/clock.ts';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { parseJson } from '../../../base/parse-json.ts';
import { escapeControls } from '../../../base/printable.ts';
import { ApiClient } from '../../../http/api-client.ts';
import type { IndexFacts, LoadTestResult } from '../result.ts';
import { checkedResult } from '../report/read-result.ts';
import { assemble } from '../run/assemble.ts';
import type { Parts } from '../run/assemble.ts';
import { TestCluster, runIdOf } from '../run/cluster.ts';
import type { LoadTestTarget } from '../run/target.ts';
import { WHOLE, placeWatchers } from '../watch/placement.ts';
import type { PlacedTask } from '../watch/placement.ts';
import { ApiWriter } from '../write/api-writer.ts';
import type { RunPlace } from '../write/kinds.ts';
import { RunStatus, entryName } from './run-status.ts';
import { FACTS, coordinatorFactsOf, partName } from './index-messages.ts';
import type { IndexPart, CoordinatorFacts, CoordinatorPart, CoordinatorState } from './index-messages.ts';
import { readLargeValue } from './large-value.ts';

export interface CollectOptions {
  readonly kubeConfig: AnyKubeConfig;
  readonly target: LoadTestTarget;
  /** The version of kubeloom. */
  readonly version: string;
  /** The name of the run. */
  readonly name: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const COORDINATOR = entryName(0);

/** Waits for the end of the run. @throws ERR_KUBELOOM_LOADTEST when there is no such run, or of another version */
export async function collectLoadTest(options: CollectOptions): Promise<LoadTestResult> {
  const { kubeConfig, target, name, signal, say } = options;
  const api = new ApiWriter(kubeConfig);
  const client = new ApiClient(kubeConfig);
  const run = runIdOf(name);
  const facts = await ended(options, api, run);
  const parts = new Map<number, Read>();
  for (let index = 0; index < facts.indexes; index++) parts.set(index, await read(client, run, index));
  const { workload, namespaces } = facts.run;
  const result = collectedResult(facts, parts, { run, namespaces, nodes: [] });
  signal.throwIfAborted();
  const access = { api, client, context: target.context, signal: new AbortController().signal, say };
  const cluster = await TestCluster.find(access, workload, name);
  // Parts are removed when the result is made.
  const leftovers = await cluster.remove();
  for (const { what, why, command } of leftovers) say(`${what} could not be removed (${why}): ${command}`);
  return { ...result, leftovers };
}

interface EndedRun extends CoordinatorFacts {
  /** The reason why index 0 ended early. */
  readonly failure?: string;
}

/** A part, or the reason why it is missing. */
type Read = { readonly part: unknown } | { readonly why: string };

async function ended(
  { version, signal, say, kubeConfig }: CollectOptions,
  api: ApiWriter,
  run: string,
): Promise<EndedRun> {
  const name = `collect-${randomBytes(4).toString('hex')}`;
  const own = { api, kubeConfig, run, name, others: [COORDINATOR], clock: realClock, signal, say };
  await using runStatus = await RunStatus.join(own, {});
  const coordinator = await runStatus.until(() => {
    const text = runStatus.factOf(COORDINATOR, FACTS);
    if (text === undefined && runStatus.isSilent(COORDINATOR)) {
      throw new KubeloomError('ERR_KUBELOOM_LOADTEST', 'index 0 of the run never started: read its log');
    }
    return text;
  });
  const facts = coordinatorFactsOf(coordinator);
  const { kubeloom } = facts.run.versions;
  if (kubeloom !== version) {
    const message = `the run is of kubeloom ${kubeloom}, and this is ${version}: collect it with the same version`;
    throw new KubeloomError('ERR_KUBELOOM_LOADTEST', message);
  }
  say('waiting for the end of the run');
  return await runStatus.until(() => {
    const { isEnded, failure } = runStatus.stateOf(COORDINATOR) as CoordinatorState;
    if (failure === undefined && !isEnded && !runStatus.isSilent(COORDINATOR)) return undefined;
    return { ...facts, ...(failure === undefined ? {} : { failure }) };
  });
}

async function read(client: ApiClient, run: string, index: number): Promise<Read> {
  try {
    const part = await readLargeValue(client, run, partName(index));
    return part === undefined ? { why: 'it ended before its verdict' } : { part };
  } catch (error) {
    return { why: messageOf(error) };
  }
}

/**
 * Parts are ConfigMaps that other programs may have written. @throws ERR_KUBELOOM_LOADTEST when they do not make a
 * valid result
 */
export function collectedResult(
  facts: EndedRun,
  parts: ReadonlyMap<number, Read>,
  place: RunPlace,
): LoadTestResult {
  try {
    const result = assemble({ ...merge(facts, parts, place), leftovers: [] });
    return checkedResult(parseJson(JSON.stringify(result)), `the run ${place.run}`);
  } catch (cause) {
    const message = `the parts of the run ${place.run} are damaged: ${messageOf(cause)}`;
    throw new KubeloomError('ERR_KUBELOOM_LOADTEST', message, { cause });
  }
}

/** Returns the measurement of all indexes. Pure. */
export function merge(
  { run, indexes, failure }: EndedRun,
  parts: ReadonlyMap<number, Read>,
  place: RunPlace,
): Omit<Parts, 'leftovers'> {
  const present = [...parts].flatMap(([index, each]) =>
    'part' in each ? [[index, each.part as CoordinatorPart | IndexPart] as const] : [],
  );
  const first = parts.get(0);
  const coordinator = first && 'part' in first ? (first.part as CoordinatorPart) : undefined;
  const tasksOf = (index: number): Parts['tasks'] => placeWatchers(run.workload, place, { index, indexes });
  const names = placeWatchers(run.workload, place, WHOLE).map(({ task }) => task.name);
  const places = new Map(names.map((name, n) => [name, n]));
  const order = ({ task }: PlacedTask): number => places.get(task.name) ?? 0;
  const missing = [...parts].flatMap(([index, each]) => {
    const known = index === 0 ? failure : coordinator?.lost.get(index);
    const why = known ?? ('why' in each ? each.why : undefined);
    return why === undefined ? [] : [`index ${index} is missing: ${escapeControls(why)}`];
  });
  const facts = present.map(([index, part]): IndexFacts => ({
    index,
    host: part.host,
    machine: 'machine' in part ? part.machine : part.run.machine,
    processes: [...new Set(tasksOf(index).map(({ process }) => process))],
  }));
  return {
    ...(coordinator ?? NOTHING),
    run: { ...(coordinator?.run ?? run), indexes: facts },
    tasks: [...parts.keys()].flatMap(tasksOf).toSorted((one, other) => order(one) - order(other)),
    judged: new Map(present.flatMap(([, { judged }]) => [...judged])),
    costs: new Map(present.flatMap(([, { costs }]) => [...costs])),
    missing,
  };
}

/** The measurement of an index 0 that did not store its part. */
const NOTHING: Omit<Parts, 'run' | 'tasks' | 'judged' | 'costs' | 'missing' | 'leftovers'> = {
  phases: { results: [], writes: [], marks: [], firstFailure: undefined },
  startedUs: 0,
  serverSeries: new Map(),
  server: undefined,
  serverStages: { stages: [], absent: [], unread: null },
  isInterrupted: false,
};
