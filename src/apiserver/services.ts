/** The parts of the server that the verbs use. */

import type { Connections } from './connections.ts';
import type { EventLog } from './event-log.ts';
import type { FaultEngine } from './fault-engine.ts';
import type { ResolvedOptions } from './options.ts';
import type { Watches } from './watches.ts';
import type { StoredObjectWriter } from './writer.ts';

export interface Services {
  readonly options: ResolvedOptions;
  readonly log: EventLog;
  readonly writer: StoredObjectWriter;
  readonly watches: Watches;
  readonly connections: Connections;
  readonly engine: FaultEngine;
}
