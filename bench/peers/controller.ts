/**
 * A controller whose reconciliation reads the cached pod and returns: `node controller.js CLIENT [MODULE] TASK`. client-node has
 * no controllers: its program is the loop that its users write, an informer and a set of keys.
 */
import type { V1Pod } from '@kubernetes/client-node';
import type { Task } from '../task.ts';
import { connectionTo, loadKubeConfig, pathOf } from './connection.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';
import { RestReceiver } from './rest.ts';
import { touchPhase } from './touch.ts';

const [, , client = '', moduleName = ''] = process.argv;

async function startKubeloom(task: Task, receiver: RestReceiver): Promise<void> {
  const { resources } = await import('kubeloom');
  const { Manager } = await import('kubeloom/controller');
  const { pods } = resources.core.v1;
  const manager = new Manager(connectionTo(task));
  manager.controllerFor(pods).reconcile(async (key, { cache }) => {
    receiver.modified(touchPhase(key, cache.get(pods, key)?.status));
  });
  await manager.run({ signal: new AbortController().signal });
}

async function startClientNode(task: Task, receiver: RestReceiver): Promise<void> {
  const { CoreV1Api, KubeConfig, makeInformer } = (await import(
    moduleName
  )) as typeof import('@kubernetes/client-node');
  const config = loadKubeConfig(new KubeConfig(), task);
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, pathOf(task.resource), () => api.listPodForAllNamespaces());
  const queue = new Set<string>();
  const reconcile = async (key: string): Promise<void> => {
    const [namespace = '', name = ''] = key.split('/');
    receiver.modified(touchPhase(key, informer.get(name, namespace)?.status));
  };
  let isWorking = false;
  const work = async (): Promise<void> => {
    for (const key of queue) {
      queue.delete(key);
      await reconcile(key);
    }
    isWorking = false;
  };
  const enqueue = ({ metadata }: V1Pod): void => {
    queue.add(`${metadata?.namespace}/${metadata?.name}`);
    if (isWorking) return;
    isWorking = true;
    setImmediate(() => void work());
  };
  informer.on('add', enqueue);
  informer.on('update', enqueue);
  informer.on('error', (error: unknown) => receiver.failed(error));
  await informer.start();
}

async function run(task: Task): Promise<Result> {
  const receiver = new RestReceiver(task);
  const start = client === 'kubeloom' ? startKubeloom : startClientNode;
  start(task, receiver).catch((error: unknown) => receiver.failed(error));
  return await receiver.result;
}

const entry = client === 'kubeloom' ? import.meta.url : import.meta.resolve(moduleName);
await runProgram(client, packageVersion(entry), run);
