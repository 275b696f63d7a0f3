/**
 * kubeloom's informer: `node kubeloom.js TASK`. All options are defaults, unless the task sets them. Problems are warnings on standard error; the runner prints them if there is no result.
 */
import { InformerThreads, SharedIndexInformer, defaultIndexerThreads, drop, resources } from 'kubeloom';
import type { Borrowed, InformerOptions, KubeObject } from 'kubeloom';
import { SENT_ANNOTATION } from '../task.ts';
import type { Handler, Task } from '../task.ts';
import { connectionTo, resourceRef, resourcesOf } from './connection.ts';
import { delivery } from './kubeloom-deliveries.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';
import { Receiver } from './receiver.ts';
import { RestReceiver } from './rest.ts';
import { touchFields, touchParsed, touchPhase } from './touch.ts';

const PAGE_OBJECTS = 500;

function optionsOf(task: Task, threads: InformerThreads): InformerOptions<KubeObject> {
  return {
    threads,
    ...(task.codec ? { codec: task.codec } : {}),
    ...(task.drop ? { transform: drop('metadata.managedFields') } : {}),
    list: {
      watchList: task.listing === 'list' || task.listing === 'pages' ? 'off' : 'auto',
      pageSize: task.listing === 'pages' ? PAGE_OBJECTS : 0,
    },
  };
}

/**
 * Returns the threads at which the default ends at the rates of the task. The source cannot repeat a list in the middle of
 * its events, as a change of the backend requires.
 */
function indexerThreadsOf({ shards, case: kind, warmUpEvents = 0 }: Task): number | 'auto' {
  if (shards !== undefined) return shards;
  const isFast = kind === 'watch' || kind === 'latency' || (kind === 'rest' && warmUpEvents > 1);
  return isFast ? defaultIndexerThreads() : 'auto';
}

/** Returns the length of the key; parses the rest as far as the task requires. */
function touch(entry: Borrowed<KubeObject>, handler: Handler): number {
  if (handler === 'metadata') return touchParsed({ metadata: entry.metadata }, handler);
  if (handler === 'object' || handler === 'phase') return touchParsed(entry.object, handler);
  if (handler === 'status') return touchPhase(entry.key, entry.status);
  if (handler === 'fields') touchFields(entry.key, entry);
  return entry.key.length;
}

/** A controller whose reconciliation reads the cached pod and returns. */
async function control(task: Task): Promise<Result> {
  const { Manager } = await import('kubeloom/controller');
  const { pods } = resources.core.v1;
  const receiver = new RestReceiver(task);
  const manager = new Manager(connectionTo(task));
  manager.controllerFor(pods).reconcile(async (key, { cache }) => {
    receiver.modified(touchPhase(key, cache.get(pods, key)?.status));
  });
  const { signal } = new AbortController();
  manager.run({ signal }).catch((error: unknown) => receiver.failed(error));
  return await receiver.result;
}

async function run(task: Task): Promise<Result> {
  if (task.program === 'controller') return await control(task);
  const connection = connectionTo(task);
  const threads = new InformerThreads({ indexerThreads: indexerThreadsOf(task) });
  const options = optionsOf(task, threads);
  const informers = resourcesOf(task).map(
    (resource) => new SharedIndexInformer<KubeObject>(connection, resourceRef(resource), options),
  );
  const [first] = informers;
  const isPipeline = ['watch', 'sync', 'latency', 'memory', 'rest'].includes(task.case);
  if (!isPipeline && first !== undefined) return { ...(await delivery(first, task)), shards: threads.shards };
  const receiver = task.case === 'rest' ? new RestReceiver(task) : new Receiver(task);
  for (const informer of informers) {
    for (let count = 0; count < (task.handlers ?? 1); count++) {
      informer.addEventHandler({
        onAdd: (entry) => receiver.added(touch(entry, task.handler)),
        onUpdate: (_previous, entry) => {
          receiver.modified(touch(entry, task.handler), task.case === 'latency' ? sentUs(entry) : 0);
        },
      });
    }
    informer.run().catch((error: unknown) => receiver.failed(error));
  }
  return { ...(await receiver.result), shards: threads.shards };
}

function sentUs(entry: Borrowed<KubeObject>): number {
  return Number(entry.metadata.annotations?.[SENT_ANNOTATION] ?? 0);
}

await runProgram('kubeloom', packageVersion(import.meta.url), run);
