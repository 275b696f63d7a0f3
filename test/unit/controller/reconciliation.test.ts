/** The context of a reconciliation, whose client and signal are made when they are read. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { Reconciliation } from '../../../src/controller/reconciliation.ts';
import { ObjectClient } from '../../../src/controller/index.ts';
import type { InformersMap } from '../../../src/controller/index.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import { RecordingLogger } from './recording-logger.ts';

class Started {
  readonly clock: FakeClock = new FakeClock();
  readonly work: AbortController = new AbortController();
  readonly log: RecordingLogger = new RecordingLogger();
  readonly reconciliation: Reconciliation;

  constructor(timeoutMs?: number) {
    this.reconciliation = new Reconciliation('default/a', {
      cache: {} as InformersMap,
      client: new ObjectClient({ server: 'http://127.0.0.1:1' }),
      clock: this.clock,
      log: this.log,
      controller: 'web',
      handles: [],
      timeoutMs,
      stop: this.work.signal,
      work: this.work.signal,
    });
  }
}
