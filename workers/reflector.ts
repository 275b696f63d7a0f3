/** Entry of the reflector thread. */
import { workerData } from 'node:worker_threads';
import { runReflector } from '../src/reflector/create-reflector.ts';
import type { ReflectorTask } from '../src/reflector/create-reflector.ts';

runReflector(workerData as ReflectorTask);
