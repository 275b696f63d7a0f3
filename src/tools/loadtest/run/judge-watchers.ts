/**
 * Judges the watchers of this machine after the load: the watchers receive the rest, the server lists, the processes
 * compare.
 */
import { parseLabelSelector } from '../../../kube/label-selector.ts';
import type { LabelSet } from '../../../kube/label-selector.ts';
import { resourcePath } from '../../../kube/resource.ts';
import type { ApiClient } from '../../../http/api-client.ts';
import { listPage } from '../process/list-page.ts';
import type { LoggedWrite, Truth, WatcherTask } from '../watch/watcher.ts';
import type { Judged } from '../watch/watcher-process.ts';
import type { WatcherProcesses } from '../watch/watcher-processes.ts';
import type { ObjectKind, Workload } from '../workload/workload.ts';
import { RUN_LABEL, labelsOf, numberOf, resourceOf } from '../write/kinds.ts';
import type { RunPlace } from '../write/kinds.ts';

const LIST_PAGE = 500;

/** The log of each kind, in the order of revisions. */
export type Logs = ReadonlyMap<ObjectKind, readonly LoggedWrite[]>;

export interface JudgedRun {
  readonly watchers: WatcherProcesses;
  readonly client: ApiClient;
  readonly workload: Workload;
  readonly place: RunPlace;
}

/** Watchers of the same objects, with the log of these objects, which is sent to each process once. */
interface Audience {
  readonly tasks: readonly WatcherTask[];
  readonly log: readonly LoggedWrite[];
}

/** @returns verdicts by the name of the watcher */
export async function judgeWatchers(run: JudgedRun, logs: Logs): Promise<ReadonlyMap<string, Judged>> {
  const { watchers } = run;
  const audiences = audiencesOf(run, logs);
  const byWatcher = <T>(of: (audience: Audience) => T): Map<string, T> =>
    new Map(
      audiences.flatMap((audience) => {
        const value = of(audience);
        return audience.tasks.map(({ name }) => [name, value] as const);
      }),
    );
  await watchers.waitUntilDelivered(byWatcher(({ log }) => log.at(-1)?.revision ?? 0));
  const states = new Map<ObjectKind, ReadonlyMap<string, Listed>>();
  for (const kind of new Set(watchers.tasks.map(({ task }) => task.group.of))) {
    states.set(kind, await listOf(run, kind));
  }
  return watchers.judge(
    byWatcher(({ tasks: [task], log }): Truth => ({ log, state: stateOf(task, states) })),
  );
}

function audiencesOf({ watchers, workload, place }: JudgedRun, logs: Logs): Audience[] {
  const alike = new Map<string, WatcherTask[]>();
  for (const { task } of watchers.tasks) {
    const name = `${task.group.of} ${task.namespace} ${task.selector}`;
    alike.set(name, [...(alike.get(name) ?? []), task]);
  }
  return Array.from(alike.values(), (tasks) => {
    const [task] = tasks as [WatcherTask];
    const objects = workload.objects.find(({ kind }) => kind === task.group.of);
    const isSelected = selectionOf(task);
    const log = (logs.get(task.group.of) ?? []).filter(({ key }) => {
      const end = key.indexOf('/');
      const labels = (): LabelSet =>
        objects ? labelsOf(numberOf(key.slice(end + 1)), objects, place.run) : {};
      return isSelected(key.slice(0, end), labels);
    });
    return { tasks, log };
  });
}

/** Returns whether a watcher selects an object with these labels. */
function selectionOf({
  namespace,
  selector,
}: WatcherTask): (namespace: string, labels: () => LabelSet) => boolean {
  const parsed = parseLabelSelector(selector);
  return (of, labels) => (namespace === '' || namespace === of) && parsed.matches(labels());
}

interface Listed {
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly labels: LabelSet;
}

function stateOf(
  task: WatcherTask | undefined,
  states: ReadonlyMap<ObjectKind, ReadonlyMap<string, Listed>>,
): ReadonlyMap<string, string> {
  if (!task) return new Map();
  const isSelected = selectionOf(task);
  const listed = [...(states.get(task.group.of) ?? [])];
  return new Map(
    listed.flatMap(([key, { namespace, labels, resourceVersion }]) =>
      isSelected(namespace, () => labels) ? [[key, resourceVersion] as const] : [],
    ),
  );
}

async function listOf(
  { client, place: { run, namespaces } }: JudgedRun,
  kind: ObjectKind,
): Promise<ReadonlyMap<string, Listed>> {
  const state = new Map<string, Listed>();
  for (const namespace of namespaces) {
    const query = new URLSearchParams({ labelSelector: `${RUN_LABEL}=${run}`, limit: String(LIST_PAGE) });
    for (;;) {
      const path = `${resourcePath(resourceOf(kind, run), namespace)}?${query.toString()}`;
      const { items, next } = await listPage(client, path, new AbortController().signal);
      for (const { metadata } of items) {
        const { name, resourceVersion = '', labels = {} } = metadata;
        state.set(`${namespace}/${name}`, { namespace, resourceVersion, labels });
      }
      if (next === '') break;
      query.set('continue', next);
    }
  }
  return state;
}
