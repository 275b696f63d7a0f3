/** Entry of the reflector thread. */
import { workerData } from 'node:worker_threads';
import { runReflector } from '../src/reflector/reflector-loop.ts';
import type { ReflectorTask } from '../src/reflector/reflector-loop.ts';

runReflector(workerData as ReflectorTask);
