/** A thread that answers each message with the time of its real clock. */
import { parentPort } from 'node:worker_threads';

import { realClock } from '../../../src/base/clock.ts';

parentPort?.on('message', () => parentPort?.postMessage(realClock.now()));
