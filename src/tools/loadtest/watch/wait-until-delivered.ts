/** The wait for the last notifications after a load. */
import { sleep } from '../../../base/sleep.ts';

const POLL_MS = 20;
/** The wait after which watchers without new notifications are given up. */
const STALL_MS = 15_000;
/** The wait after the last expected event, in which a further event would be an error. */
const LINGER_MS = 250;

/**
 * Resolves a moment after the last expected event, after too long a time without events, or when the signal is aborted.
 *
 * @param isBehind returns whether an event is still expected
 * @param received returns a number that grows with each event
 */
export async function waitUntilDelivered(
  isBehind: () => boolean,
  received: () => number,
  signal: AbortSignal,
): Promise<void> {
  let before = received();
  for (let stalledMs = 0; stalledMs < STALL_MS && isBehind();) {
    if (signal.aborted) return;
    await sleep(POLL_MS);
    stalledMs = received() === before ? stalledMs + POLL_MS : 0;
    before = received();
  }
  await sleep(LINGER_MS);
}
