/** Makes a watcher with the client that its group names. */
import { KubeloomError } from '../../base/errors.ts';
import { InformerWatcher } from './informer-watcher.ts';
import type { Watcher, WatcherContext, WatcherTask } from './watcher.ts';

/** @throws ERR_KUBELOOM_LOADTEST for a client that is not available */
export function createWatcher(task: WatcherTask, context: WatcherContext): Watcher {
  const { client } = task.group;
  if (client === 'informer') return new InformerWatcher(task, context);
  throw new KubeloomError('ERR_KUBELOOM_LOADTEST', `watchers with the client ${client} are not available`);
}
