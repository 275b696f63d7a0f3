/** What is said of a handler when the budget of backlogs is short: what it costs, what happens, what helps. */
import { KubeloomError } from '../errors.ts';
import type { BacklogPressure } from '../processor/backlog-budget.ts';
import type { HandlerBacklog } from '../processor/handler.ts';

export function pressureError(
  name: string,
  { kind, bytes, limits }: BacklogPressure,
  { notifications, ageMs }: HandlerBacklog,
): KubeloomError {
  const { backlogBytesMax, backlogPauseMsMax } = limits;
  const handler =
    `event handler ${name} is ${notifications} notifications behind, the oldest for ${Math.round(ageMs)} ms; ` +
    `the backlogs of all handlers hold ${Math.round(bytes)} of ${backlogBytesMax} bytes (backlogBytesMax)`;
  const advice = 'queue keys and work elsewhere';
  if (kind === 'coalescing') {
    return new KubeloomError(
      'ERR_KUBELOOM_BACKLOG_COALESCED',
      `${handler}: until that is better it is told of several changes of one object at once; ${advice}`,
    );
  }
  if (kind === 'paused') {
    return new KubeloomError(
      'ERR_KUBELOOM_BACKLOG_PAUSED',
      `${handler}: nothing more is read from the server, and the handler is removed if that does not change ` +
        `within ${backlogPauseMsMax} ms (backlogPauseMsMax); ${advice}`,
    );
  }
  return new KubeloomError(
    'ERR_KUBELOOM_HANDLER_OVERFLOW',
    `${handler}, for longer than ${backlogPauseMsMax} ms (backlogPauseMsMax): the handler was removed and is told ` +
      `nothing more; ${advice}, or raise backlogBytesMax`,
  );
}
