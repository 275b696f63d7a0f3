/** A wait for a condition that no event announces. */
import { HANG_MS } from './hang.ts';

const LOOK_MS = 1;

/**
 * Resolves when the condition holds. Other threads and processes work between two looks.
 *
 * @throws when the condition has not come after the time of a hang
 */
export async function until(
  isDone: () => boolean | Promise<boolean>,
  what: string = 'the condition of a test',
): Promise<void> {
  const endMs = performance.now() + HANG_MS;
  while (!(await isDone())) {
    if (performance.now() > endMs) throw new Error(`this did not come: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
