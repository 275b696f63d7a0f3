/**
 * The informer of `@kubernetes/client-node`, 1.x or 2.x: `node client-node.js CLIENT MODULE TASK`. It follows
 * its README: `makeInformer` with a list function, and a handler for each kind of event.
 */
import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node';
import type { Task } from '../task.ts';
import { loadKubeConfig, pathOf, resourcesOf, WIDGETS } from './connection.ts';
import { Meter } from './meter.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';
import { Receiver } from './receiver.ts';
import { RestReceiver } from './rest.ts';
import { sentUsOf, touchParsed } from './touch.ts';

const [, , client = '', moduleName = ''] = process.argv;
type ClientNode = typeof import('@kubernetes/client-node');
const kubernetes = (await import(moduleName)) as ClientNode;

type List = KubernetesListObject<KubernetesObject>;

function lister(task: Task): {
  config: InstanceType<ClientNode['KubeConfig']>;
  list: (resource: string) => Promise<List>;
} {
  const config = loadKubeConfig(new kubernetes.KubeConfig(), task);
  const core = config.makeApiClient(kubernetes.CoreV1Api);
  const custom = config.makeApiClient(kubernetes.CustomObjectsApi);
  const list = async (plural: string): Promise<List> => {
    if (plural === 'pods') return await core.listPodForAllNamespaces();
    return (await custom.listCustomObjectForAllNamespaces({ ...WIDGETS, plural })) as List;
  };
  return { config, list };
}

/** Measures from the request of the second list until every handler has received the changes. */
async function relist(task: Task): Promise<Result> {
  const { config, list } = lister(task);
  const meter = new Meter();
  let lists = 0;
  let checksum = 0;
  return await new Promise((resolve, reject) => {
    const informer = kubernetes.makeInformer(config, pathOf(task.resource), async () => {
      const isRelist = ++lists === 2;
      if (isRelist) meter.start();
      const answer = await list(task.resource);
      // The informer calls the handlers as soon as the answer arrives, before this runs.
      if (isRelist) setImmediate(() => resolve({ events: task.objects, checksum, ...meter.stop() }));
      return answer;
    });
    const touch = (object: KubernetesObject): void => void (checksum += touchParsed(object, task.handler));
    informer.on('add', touch);
    informer.on('update', touch);
    informer.on('error', reject);
    informer.start().catch(reject);
  });
}

type Informer = ReturnType<typeof kubernetes.makeInformer<KubernetesObject>>;

/** The controller that users of client-node write: a set of keys, and a loop that reads the cached object. */
function reconcileFrom(informer: Informer, receiver: Pick<RestReceiver, 'modified'>): void {
  const queue = new Set<string>();
  const reconcile = async (key: string): Promise<void> => {
    const [namespace = '', name = ''] = key.split('/');
    const object = informer.get(name, namespace);
    if (object) receiver.modified(touchParsed(object, 'status'));
  };
  let isWorking = false;
  const work = async (): Promise<void> => {
    for (const key of queue) {
      queue.delete(key);
      await reconcile(key);
    }
    isWorking = false;
  };
  const enqueue = ({ metadata }: KubernetesObject): void => {
    queue.add(`${metadata?.namespace}/${metadata?.name}`);
    if (!isWorking) setImmediate(() => void work());
    isWorking = true;
  };
  informer.on('add', enqueue);
  informer.on('update', enqueue);
}

async function run(task: Task): Promise<Result> {
  if (task.case === 'relist') return await relist(task);
  const { config, list } = lister(task);
  const receiver = task.case === 'rest' ? new RestReceiver(task) : new Receiver(task);
  const { handler, program, handlers = program === 'controller' ? 0 : 1 } = task;
  for (const resource of resourcesOf(task)) {
    const informer = kubernetes.makeInformer(config, pathOf(resource), () => list(resource));
    if (program === 'controller') reconcileFrom(informer, receiver);
    for (let count = 0; count < handlers; count++) {
      informer.on('add', (object) => receiver.added(touchParsed(object, handler)));
      informer.on('update', (object) => {
        receiver.modified(touchParsed(object, handler), task.case === 'latency' ? sentUsOf(object) : 0);
      });
    }
    informer.on('error', (error: unknown) => receiver.failed(error));
    informer.start().catch((error: unknown) => receiver.failed(error));
  }
  return await receiver.result;
}

await runProgram(client, packageVersion(import.meta.resolve(moduleName)), run);
