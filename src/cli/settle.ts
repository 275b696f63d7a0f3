/** Waits for recording handlers, without the assumption that they receive everything. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordingHandler } from './recording-handler.ts';

/** The wait after which handlers without a notification receive no more. */
const STALL_MS = 15_000;
/** The wait after the last expected event, in which another one would be an error. */
const LINGER_MS = 250;

/** Resolves when all have received this number of changes, or nothing more for too long. */
export async function settled(handlers: readonly RecordingHandler[], changes: number): Promise<void> {
  const ended = new AbortController();
  const done = Promise.all(handlers.map((handler) => handler.reached(changes)));
  await Promise.race([done, stalled(handlers, ended.signal)]);
  ended.abort();
  await delay(LINGER_MS);
}

async function stalled(handlers: readonly RecordingHandler[], ended: AbortSignal): Promise<void> {
  const count = (): number => handlers.reduce((sum, { history }) => sum + history.length, 0);
  let before = -1;
  while (!ended.aborted && count() !== before) {
    before = count();
    await delay(STALL_MS, undefined, { signal: ended }).catch(() => undefined);
  }
}
