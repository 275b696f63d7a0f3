/** Errors for a handler whose backlog is too large. Each one names the cost, the consequence and the remedy. */
import { KubeloomError } from '../base/errors.ts';
import type { BacklogPressure } from '../replica/deliver/backlog-step.ts';
import type { HandlerBacklog } from '../replica/deliver/handler.ts';

export function pressureError(
  name: string,
  { kind, bytes, limits }: BacklogPressure,
  { notifications, ageMs }: HandlerBacklog,
): KubeloomError {
  const { backlogBytesMax, backlogTimeoutMs } = limits;
  const handler =
    `event handler ${name} is ${notifications} notifications behind, the oldest for ${Math.round(ageMs)} ms; ` +
    `the backlogs of all handlers hold ${Math.round(bytes)} of ${backlogBytesMax} bytes (backlogBytesMax)`;
  const advice = 'put keys into a work queue and process them outside the handler';
  if (kind === 'coalescing') {
    return new KubeloomError(
      'ERR_KUBELOOM_BACKLOG_COALESCED',
      `${handler}: until the backlog shrinks, several changes of one object are delivered as one; ${advice}`,
    );
  }
  if (kind === 'paused') {
    return new KubeloomError(
      'ERR_KUBELOOM_BACKLOG_PAUSED',
      `${handler}: reading from the server is paused, and the handler is removed unless the backlog shrinks ` +
        `within ${backlogTimeoutMs} ms (backlogTimeoutMs); ${advice}`,
    );
  }
  return new KubeloomError(
    'ERR_KUBELOOM_HANDLER_OVERFLOW',
    `${handler}, for longer than ${backlogTimeoutMs} ms (backlogTimeoutMs): the handler was removed and receives ` +
      `nothing more; ${advice}, or raise backlogBytesMax`,
  );
}
