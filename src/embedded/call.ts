/**
 * What every verb is given: the parts of the server, and one request taken apart.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Collection } from './collection.ts';
import type { Connections } from './connections.ts';
import type { EventLog } from './event-log.ts';
import type { ResolvedOptions } from './options.ts';
import type { ResourcePath } from './request-info.ts';
import type { Watches } from './watches.ts';
import type { Writer } from './writer.ts';

export interface Services {
  readonly options: ResolvedOptions;
  readonly log: EventLog;
  readonly writer: Writer;
  readonly watches: Watches;
  readonly connections: Connections;
}

export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
  readonly collection: Collection;
}
