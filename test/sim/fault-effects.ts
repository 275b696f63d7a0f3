/** The effects of faults: on a new request, on an open stream, on the server. */
import { KubeloomError } from '../../src/base/errors.ts';
import { failureOf } from '../../src/tools/apiserver/store/status.ts';
import type { StatusError } from '../../src/tools/apiserver/store/status.ts';
import type { Chance } from './chance.ts';
import type { Connection } from './connection.ts';
import type { SimulatedServer, Stream } from './server.ts';
import type { RequestFault, StreamFault, FaultSchedule } from './fault-schedule.ts';

const RESET = (): KubeloomError => new KubeloomError('ERR_KUBELOOM_CONNECTION_RESET', 'the connection broke');

const STATUSES: Partial<Record<RequestFault, number>> = {
  'too many requests': 429,
  'internal error': 500,
  unavailable: 503,
  forbidden: 403,
  unauthorized: 401,
  'not found': 404,
};

/** Strikes a request with a fault. @returns true when the request has its answer */
export function strikeRequest(
  fault: RequestFault,
  connection: Connection,
  server: SimulatedServer,
  chance: Chance,
): boolean {
  const status = STATUSES[fault];
  if (status !== undefined) {
    server.refuse(connection, failing(status, chance));
    return true;
  }
  switch (fault) {
    case 'unreachable':
      connection.end(new KubeloomError('ERR_KUBELOOM_UNREACHABLE', 'nobody listens'));
      return true;
    case 'reset before the answer':
      connection.end(RESET());
      return true;
    case 'hang before the answer':
      connection.isSilent = true;
      return true;
    default:
      return false;
  }
}

function failing(
  status: number,
  chance: Chance,
): Pick<StatusError, 'status'> & { retryAfterSeconds?: number } {
  const seconds = status === 429 || status === 503 ? chance.integer(0, 10) : 0;
  const failure = failureOf(status, 'simulated failure', seconds > 0 ? seconds : undefined);
  return seconds > 0 ? { status: failure.status, retryAfterSeconds: seconds } : failure;
}

/** Delivers only a part of an answer that has been sent and has not arrived. */
export function cutAnswer(connection: Connection, chance: Chance): void {
  connection.cut(chance.integer(0, 2000), chance.happens(0.5) ? RESET() : undefined);
}

export function strikeStream(
  fault: StreamFault,
  stream: Stream,
  server: SimulatedServer,
  chance: Chance,
  faults: FaultSchedule,
): void {
  const { connection } = stream;
  faults.strike(fault);
  switch (fault) {
    case 'clean end':
      server.endStream(stream);
      break;
    case 'cut':
      server.streams.delete(stream);
      connection.cut(chance.integer(0, 1500), RESET());
      break;
    case 'clean end within a line':
      server.streams.delete(stream);
      connection.cut(chance.integer(0, 1500));
      break;
    case 'silence':
      server.streams.delete(stream);
      connection.isSilent = true;
      break;
    case 'gone in stream':
      server.errorInStream(stream, failureOf(410, 'too old').status);
      break;
    case 'internal error in stream':
      server.errorInStream(stream, failureOf(500, 'broken').status);
      break;
    case 'too many requests in stream':
      server.errorInStream(stream, failureOf(429, 'busy', chance.integer(1, 5)).status);
      break;
    case 'malformed line':
      stream.isNextDamaged = true;
      break;
    case 'event again':
      server.repeat(stream, 'event again');
      break;
    case 'old bookmark':
      server.bookmark(stream, Math.max(1, stream.revision - chance.integer(0, 50)), 'old bookmark');
      break;
  }
}
