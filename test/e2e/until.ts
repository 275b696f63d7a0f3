/** A wait for a condition that no event announces. */
import { setTimeout } from 'node:timers/promises';
import { HANG_MS } from '../kit/hang.ts';
import { nowMs } from './members/history.ts';

const LOOK_MS = 25;

/** @throws when the condition has not come after the time of a hang */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const endMs = nowMs() + HANG_MS;
  while (!(await isSo())) {
    if (nowMs() > endMs) throw new Error(`this did not come: ${what}`);
    await setTimeout(LOOK_MS);
  }
}
