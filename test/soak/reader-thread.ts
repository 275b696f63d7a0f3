/** A thread of the program that reads its caches, and records what its handlers receive in each window. */
import { parentPort, workerData } from 'node:worker_threads';
import { withCode } from '../../src/base/errors.ts';
import { openCache } from '../../src/thread/index.ts';
import type { CachePort, ThreadCache } from '../../src/thread/index.ts';
import type { Answer, ReaderCommand, ReaderWindow, Request } from './program-messages.ts';
import { WindowHandlers } from './window-handlers.ts';
import { KIND_NAMES } from './window-record.ts';
import type { KindName, Report } from './window-record.ts';

const { name, port } = workerData as { readonly name: string; readonly port: CachePort };

let reports: Report[] = [];
let handlers: WindowHandlers | undefined;

const cache: ThreadCache<Readonly<Record<KindName, object>>> = await openCache(port, {
  onError: (error) => {
    const { code, message } = withCode(error);
    reports.push({ from: name, code, message });
  },
});

const informers = {
  podTemplates: cache.informer('podTemplates'),
  serviceAccounts: cache.informer('serviceAccounts'),
  services: cache.informer('services'),
};

function end(): ReaderWindow {
  const ended = { handlers: handlers?.leave() ?? [], reports };
  handlers = undefined;
  reports = [];
  globalThis.gc?.();
  return ended;
}

async function answerTo(command: ReaderCommand): Promise<unknown> {
  switch (command.type) {
    case 'begin':
      await Promise.all(KIND_NAMES.map((kind) => informers[kind].waitForSync()));
      handlers = new WindowHandlers(informers, [name]);
      return true;
    case 'left':
      return handlers?.left(command.versions) ?? 0;
    case 'end':
      return end();
    default:
      return command satisfies never;
  }
}

parentPort?.on('message', ({ id, asked }: Request<ReaderCommand>) => {
  void answerTo(asked)
    .then(
      (answer): Answer => ({ id, answer }),
      (error: unknown): Answer => ({ id, error: String(error) }),
    )
    .then((answer) => parentPort?.postMessage(answer));
});
