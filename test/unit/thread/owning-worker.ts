/** A worker thread that shares the cache of an informer: it sends its parent a port, and blocks if its parent asks for that. */
import { parentPort, workerData } from 'node:worker_threads';
import { SharedCache } from '../../../src/thread/index.ts';
import { Scene, pod } from '../informer/scene.ts';

export interface OwnerOptions {
  /** Whether the thread blocks as soon as it has sent the port. */
  readonly blocks: boolean;
}

const scene = new Scene();
scene.source.add(pod('a'));
const informer = scene.informer();
await scene.started(informer);
const port = new SharedCache({ pods: informer }).port();
parentPort?.postMessage(port, port.transferList);
if ((workerData as OwnerOptions).blocks) for (;;);
