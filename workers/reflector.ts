/** Entry of the reflector thread. */
import { isMainThread, workerData } from 'node:worker_threads';
import { runReflector } from '../src/reflector/create-reflector.ts';
import type { ReflectorTask } from '../src/reflector/create-reflector.ts';

if (isMainThread)
  throw new Error(
    'workers/reflector is the entry of a worker thread, which kubeloom starts: do not import it',
  );
runReflector(workerData as ReflectorTask);
