/** The handlers of one window, on the main thread and in attached threads: a prompt one, one that falls behind, one that throws. */
import { setTimeout as delay } from 'node:timers/promises';
import type { HandlerRegistration } from '../../src/index.ts';
import type { ChangeRecord } from '../../test/sim/oracle/histories.ts';
import type { Recordable, Recorder } from '../../test/sim/oracle/recorder.ts';

const SLOW_EVERY = 200;
const SLOW_MS = 100;
const THROW_EVERY = 1000;

/** @param prompt the prompt handler's own work */
export function joinHandlers(
  cache: Recordable,
  recorder: Recorder,
  window: number,
  prompt: (change: ChangeRecord) => void,
): HandlerRegistration[] {
  let slowCalls = 0;
  let throwingCalls = 0;
  const slow = (): Promise<void> | undefined => (++slowCalls % SLOW_EVERY === 0 ? delay(SLOW_MS) : undefined);
  const throwing = (): void => {
    if (++throwingCalls % THROW_EVERY === 0) throw new Error('thrown by a handler of the soak');
  };
  return Object.entries({ prompt, slow, throwing }).map(([name, react]) =>
    recorder.handler(cache, `${name} ${window}`, { react }),
  );
}
