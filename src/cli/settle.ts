/** Waiting for handlers that write down what they are told, without trusting that they are told everything. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordingHandler } from './recording-handler.ts';

/** Handlers that get nothing for so long will get nothing any more. */
const STALL_MS = 15_000;
/** What comes after the last event that was expected would be one too many. */
const LINGER_MS = 250;

/** Resolves when all have been told of so many changes, or of nothing more for too long. */
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
