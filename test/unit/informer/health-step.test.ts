/** Health as data: every state, and when a cache is stale. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NOT_STARTED, staleAtMs, stepHealth } from '../../../src/informer/health-step.ts';
import type { HealthInput, HealthState } from '../../../src/informer/health-step.ts';
import type { ReflectorPhase } from '../../../src/shared/protocol.ts';

const STALE_AFTER_MS = 100;

/** An input by a word: a phase, or the type of an input without more. */
function inputOf(word: string): HealthInput {
  const plain = ['started', 'merged', 'replaced', 'error', 'tick', 'stopped'];
  if (plain.includes(word)) return { type: word } as HealthInput;
  return { type: 'phase', phase: word as ReflectorPhase };
}

/** The state after `0 started`, `10 watching`, … */
function after(...history: readonly string[]): HealthState {
  return history.reduce((state, line) => {
    const [at = '', word = ''] = line.split(' ');
    return stepHealth(state, inputOf(word), Number(at), STALE_AFTER_MS);
  }, NOT_STARTED);
}

const SYNCED = ['0 started', '1 connecting', '2 listing', '5 merged', '6 replaced', '7 connecting'];
const CONNECTED = [...SYNCED, '10 watching'];

describe('the connection', () => {
  const CASES: readonly (readonly [string, readonly string[], HealthState['connection']])[] = [
    ['is not started at first', [], { kind: 'not-started' }],
    ['ignores phases before start', ['0 watching'], { kind: 'not-started' }],
    ['is syncing from start', ['3 started'], { kind: 'syncing', isOpen: false, sinceMs: 3 }],
    [
      'is still syncing while items of the first list are merged',
      ['3 started', '4 listing', '5 merged', '9 backing-off'],
      { kind: 'syncing', isOpen: false, sinceMs: 3 },
    ],
    ['is disconnected between the first list and the watch', SYNCED, { kind: 'disconnected', sinceMs: 6 }],
    ['is connected when the watch opens', CONNECTED, { kind: 'connected', sinceMs: 10 }],
    [
      'is connected at once when the list came over the watch',
      ['0 started', '1 streaming-list', '8 watching', '9 replaced'],
      { kind: 'connected', sinceMs: 9 },
    ],
    [
      'is connected whichever message comes first',
      ['0 started', '1 streaming-list', '8 replaced', '9 watching'],
      { kind: 'connected', sinceMs: 9 },
    ],
    ['does not begin anew with an event', [...CONNECTED, '20 merged'], { kind: 'connected', sinceMs: 10 }],
    [
      'does not begin anew with another message of the same phase',
      [...CONNECTED, '20 watching'],
      { kind: 'connected', sinceMs: 10 },
    ],
    [
      'is connected while the watch is paused',
      [...CONNECTED, '20 paused', '30 watching'],
      { kind: 'connected', sinceMs: 10 },
    ],
    [
      'is disconnected from the end of the watch through all attempts',
      [...CONNECTED, '20 connecting', '21 backing-off', '30 listing', '35 paused', '40 replaced'],
      { kind: 'disconnected', sinceMs: 20 },
    ],
    ['stops', [...CONNECTED, '20 stopped'], { kind: 'stopped', sinceMs: 20 }],
    [
      'stays stopped',
      ['20 stopped', '21 started', '22 watching', '23 replaced'],
      { kind: 'stopped', sinceMs: 20 },
    ],
  ];
  for (const [title, history, expected] of CASES) {
    test(title, () => assert.deepEqual(after(...history).connection, expected));
  }
});

describe('a cache is fresh', () => {
  const CASES: readonly (readonly [string, readonly string[], number | undefined])[] = [
    ['not before anything was seen', ['0 started', '5 merged'], undefined],
    ['when its first list is complete', SYNCED, 6],
    ['when the watch opens', CONNECTED, 10],
    ['with every event and bookmark of an open watch', [...CONNECTED, '20 merged', '30 merged'], 30],
    ['with events of a watch that brings the first list', ['0 started', '2 watching', '5 merged'], 5],
    ['not with items of a list that is not complete', [...CONNECTED, '20 listing', '30 merged'], 10],
    ['when a relist is complete', [...CONNECTED, '20 listing', '30 merged', '31 replaced'], 31],
    ['not by pausing and going on', [...CONNECTED, '20 paused', '30 watching'], 10],
    ['not by an error', [...CONNECTED, '20 error'], 10],
    ['not by attempts to connect', [...CONNECTED, '20 connecting', '21 backing-off'], 10],
  ];
  for (const [title, history, expected] of CASES) {
    test(`C146 C147 ${title}`, () => assert.equal(after(...history).freshMs, expected));
  }

  test('every merged record is the last event, and errors have a separate time', () => {
    const state = after(...CONNECTED, '20 listing', '30 merged', '40 error');
    assert.deepEqual([state.lastEventMs, state.lastErrorMs], [30, 40]);
  });
});

describe('a cache is stale', () => {
  const CASES: readonly (readonly [string, readonly string[], number | undefined])[] = [
    ['never before the first sync', ['0 started', '1 listing', '9999 tick', '9999 error'], undefined],
    ['not a moment too early', [...CONNECTED, '109 tick'], undefined],
    ['when an open watch was silent for too long', [...CONNECTED, '110 tick'], 110],
    ['since the first look', [...CONNECTED, '110 tick', '150 tick'], 110],
    ['not when something came', [...CONNECTED, '50 merged', '149 tick'], undefined],
    ['when disconnected for too long', [...CONNECTED, '50 merged', '60 backing-off', '150 tick'], 150],
    [
      'not when a watch opened in time',
      [...CONNECTED, '60 backing-off', '100 watching', '199 tick'],
      undefined,
    ],
    ['no longer with an event', [...CONNECTED, '110 tick', '120 merged'], undefined],
    ['no longer with an open watch', [...CONNECTED, '60 backing-off', '110 tick', '120 watching'], undefined],
    ['still with a part of a list', [...CONNECTED, '60 listing', '110 tick', '120 merged'], 110],
    ['no longer with a whole list', [...CONNECTED, '60 listing', '110 tick', '120 replaced'], undefined],
    ['no longer once stopped', [...CONNECTED, '110 tick', '120 stopped'], undefined],
  ];
  for (const [title, history, expected] of CASES) {
    test(`C146 C147 ${title}`, () => assert.equal(after(...history).staleSinceMs, expected));
  }

  test('at a time that is known in advance, once synced and until it is', () => {
    const at = (...history: readonly string[]): number | undefined =>
      staleAtMs(after(...history), STALE_AFTER_MS);
    assert.equal(at('0 started', '1 listing'), undefined);
    assert.equal(at(...SYNCED), 106);
    assert.equal(at(...CONNECTED, '50 merged'), 150);
    assert.equal(at(...CONNECTED, '110 tick'), undefined);
    assert.equal(at(...CONNECTED, '20 stopped'), undefined);
  });
});
