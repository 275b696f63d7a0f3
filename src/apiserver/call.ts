/** One parsed request for a resource, as every verb receives it. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Collection } from './collection.ts';
import type { RequestFaults } from './fault-answers.ts';
import type { ResourcePath } from './request-info.ts';
import type { RequestRecord } from './request-log.ts';

export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
  readonly collection: Collection;
  readonly faults: RequestFaults;
  readonly record: RequestRecord;
}
