/**
 * Ends a test file that waits for an event that never comes, such as a notification that a mutant drops. Loaded with
 * `--import`. It counts the turns of the event loop, and not the time: a loop whose thread waits for the machine does not
 * turn. At the end the file prints its turns, so that the limit with a mutant is a multiple of the turns without it.
 */
import { isMainThread } from 'node:worker_threads';

/** Variable of the environment with the number of turns. */
export const TURNS_MAX = 'KUBELOOM_TURNS_MAX';
/** The line with the file's turns. */
export const TURNS = /^turns of the event loop: (\d+)$/m;
/** Exit code of the file's process. */
export const STANDSTILL = 86;

const turnsMax = Number(process.env[TURNS_MAX] ?? Infinity);

// The runner itself also loads this module, and so does each thread.
if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  // A test may replace the timers.
  const later = setTimeout;
  let turns = 0;
  const turn = (): void => {
    if (++turns > turnsMax) process.exit(STANDSTILL);
    later(turn, 1).unref();
  };
  turn();
  process.on('exit', () => process.stdout.write(`turns of the event loop: ${turns}\n`));
}
