/** Makes a watcher with the client that its group names. */
import { ClientNodeLife } from './client-node-life.ts';
import { InformerWatcher } from './informer-watcher.ts';
import type { RawProcess } from './raw/raw-process.ts';
import { RawWatcher } from './raw/raw-watcher.ts';
import type { Watcher, WatcherContext, WatcherTask } from './watcher.ts';

/** @param raw shared by the raw watchers of a process */
export function createWatcher(task: WatcherTask, context: WatcherContext, raw: RawProcess): Watcher {
  switch (task.group.client) {
    case 'raw':
      return new RawWatcher(task, raw, context.onError);
    case 'client-node':
      return new InformerWatcher(task, context, ClientNodeLife);
    default:
      return new InformerWatcher(task, context);
  }
}
