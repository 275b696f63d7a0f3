/** The main thread's answer to `prepare`: how the next request is to be sent, or why it cannot be. */
import type { ErrorMessage } from '../errors.ts';
import type { ConnectionOptions, Query } from '../threads/protocol.ts';

export interface Prepared {
  readonly request: number;
  readonly connection?: ConnectionOptions;
  readonly query?: Query;
  readonly error?: ErrorMessage;
}
