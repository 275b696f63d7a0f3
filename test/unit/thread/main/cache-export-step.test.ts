/** Every event in every state of a cache export. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeloomError } from '../../../../src/base/errors.ts';
import { OPEN, isWriting, stepCacheExport } from '../../../../src/thread/main/cache-export-step.ts';
import type { CacheExportEvent, CacheExportState } from '../../../../src/thread/main/cache-export-step.ts';

const failure = new KubeloomError('ERR_KUBELOOM_OBJECT_TOO_LARGE', 'too large');

const STATES: readonly CacheExportState[] = [
  OPEN,
  { kind: 'leaving' },
  { kind: 'failed', failure },
  { kind: 'removed' },
  { kind: 'closed' },
];

const EVENTS: readonly CacheExportEvent[] = [
  { type: 'leave' },
  { type: 'fail', failure },
  { type: 'remove' },
  { type: 'close' },
];

/** The state after each event of `EVENTS`. */
const AFTER: Readonly<Record<CacheExportState['kind'], readonly CacheExportState['kind'][]>> = {
  open: ['leaving', 'failed', 'removed', 'closed'],
  leaving: ['leaving', 'failed', 'removed', 'closed'],
  failed: ['failed', 'failed', 'failed', 'closed'],
  removed: ['removed', 'removed', 'removed', 'closed'],
  closed: ['closed', 'closed', 'closed', 'closed'],
};

test('a cache export that has ended keeps the first reason, writes nothing more, and can only be closed', () => {
  for (const state of STATES) {
    for (const [at, event] of EVENTS.entries()) {
      const next = stepCacheExport(state, event);
      assert.equal(next.kind, AFTER[state.kind][at], `${state.kind}, ${event.type}`);
      if (next.kind === state.kind) assert.equal(next, state);
      if (!isWriting(state)) assert.equal(isWriting(next), false);
    }
  }
});
