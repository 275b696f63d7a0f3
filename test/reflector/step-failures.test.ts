/** The rules for what servers refuse: internal errors, credentials, and lists that disagree. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { initialState } from '../../src/reflector/state.ts';
import { step } from '../../src/reflector/step.ts';
import {
  SPEC,
  closed,
  failed,
  inconsistent,
  initialEventsEnd,
  later,
  opened,
  page,
  start,
  timer,
} from './scripts.ts';
import { AUTO, streamed, synced, table } from './table.ts';

const PATIENT = { maxInternalErrorRetryDurationMs: 10_000 };
const again = 'report INTERNAL-ERROR, close, watch rv=10';

describe('an internal error of a watch', () => {
  table('C112 leads to a list after a backoff, as long as the informer does not say otherwise', {}, [
    ...synced,
    [failed('internal-error', { at: '15' }), 'report INTERNAL-ERROR, close, wait 800'],
    [timer, 'list rv=15'],
  ]);
  table('C112 is answered at once by the same watch, up to the end of the retry duration', PATIENT, [
    ...synced,
    [failed('internal-error'), again],
    [later(failed('internal-error'), 9_999), again],
    [later(failed('internal-error'), 1), again],
    [later(failed('internal-error'), 1), 'report INTERNAL-ERROR, close, wait 800'],
    [timer, 'list rv=10'],
  ]);
  table('begins a new retry duration when the last one was a minute ago', PATIENT, [
    ...synced,
    [failed('internal-error'), again],
    [later(failed('internal-error'), 59_999), 'report INTERNAL-ERROR, close, wait 800'],
    [timer, 'list rv=10'],
    [opened, 'begin 2'],
    [page('10'), 'end 2@10, watch rv=10'],
    [failed('internal-error'), again],
    [later(failed('internal-error'), 60_000), again],
    [later(failed('internal-error'), 10_000), again],
    [later(failed('internal-error'), 10_001), 'report INTERNAL-ERROR, close, wait 1600'],
  ]);
  table('begins a new retry duration after every list', PATIENT, [
    ...synced,
    [failed('internal-error'), again],
    [failed('other'), 'report OTHER, close, wait 800'],
    [timer, 'list rv=10'],
    [opened, 'begin 2'],
    [page('10'), 'end 2@10, watch rv=10'],
    [later(failed('internal-error'), 11_000), again],
  ]);
  table('does not use up the retry duration by other failures, nor end it', PATIENT, [
    ...synced,
    [failed('internal-error'), again],
    [later(failed('stalled'), 5000), 'report STALLED, close, watch rv=10'],
    [later(failed('internal-error'), 5000), again],
    [later(failed('internal-error'), 1), 'report INTERNAL-ERROR, close, wait 800'],
  ]);
  table('in a streaming list leads to a list at once', { ...AUTO, ...PATIENT }, [
    [start, 'watch streaming'],
    [opened, 'begin 1'],
    [failed('internal-error'), 'report INTERNAL-ERROR, close, abort 1, list rv=0 limit=500'],
  ]);
});

describe('refused credentials', () => {
  table('are renewed once and the list is asked for again at once', {}, [
    [start, 'list rv=0 limit=500'],
    [failed('unauthorized'), 'close, list rv=0 limit=500 (new credentials)'],
    [opened, 'begin 1'],
    [page('10'), 'end 1@10, watch rv=10'],
  ]);
  table('C113 are reported and waited for when the new ones are refused too, and renewed after that', {}, [
    [start, 'list rv=0 limit=500'],
    [failed('unauthorized'), 'close, list rv=0 limit=500 (new credentials)'],
    [failed('unauthorized'), 'report UNAUTHORIZED, close, wait 800'],
    [timer, 'list rv=0 limit=500'],
    [failed('unauthorized'), 'close, list rv=0 limit=500 (new credentials)'],
    [failed('unauthorized'), 'report UNAUTHORIZED, close, wait 1600'],
  ]);
  table('between two pages cost only that page', {}, [
    [start, 'list rv=0 limit=500'],
    [opened, 'begin 1'],
    [page('10', 'token'), 'list limit=500 continue=token'],
    [failed('unauthorized'), 'close, list limit=500 continue=token (new credentials)'],
    [opened, ''],
    [page('10'), 'end 1@10, watch rv=10'],
  ]);
  table('of a watch are renewed, and it goes on without a list', {}, [
    ...synced,
    [closed('15'), 'watch rv=15'],
    [failed('unauthorized'), 'close, watch rv=15 (new credentials)'],
    [opened, ''],
    [closed('16'), 'watch rv=16'],
    [failed('unauthorized'), 'close, watch rv=16 (new credentials)'],
    [failed('unauthorized'), 'report UNAUTHORIZED, close, wait 800'],
    [timer, 'list rv=16'],
  ]);
  table('of a streaming list are renewed, and a second refusal does not lead to a list', AUTO, [
    [start, 'watch streaming'],
    [failed('unauthorized'), 'close, watch streaming (new credentials)'],
    [failed('unauthorized'), 'report UNAUTHORIZED, close, wait 800'],
    [timer, 'watch streaming'],
    [failed('unauthorized'), 'close, watch streaming (new credentials)'],
    [opened, 'begin 1'],
    [initialEventsEnd('20'), 'end 1@20'],
  ]);
});

describe('the check of a streaming list', () => {
  const CHECKED = { ...AUTO, checkConsistency: true };
  const begun = [
    [start, 'abandon-check, watch streaming'],
    [opened, 'begin 1'],
    [initialEventsEnd('20'), 'end 1@20, check @20'],
  ] as const;
  table('is not asked for by default', AUTO, streamed);
  table(
    'begins with the end of the stream, whose watch goes on, and is given up with the next list',
    CHECKED,
    [
      ...begun,
      [closed('25'), 'watch rv=25'],
      [failed('expired'), 'report EXPIRED, close, wait 800'],
      [timer, 'abandon-check, watch rv=25 streaming'],
      [failed('other'), 'close, abandon-check, list rv=25'],
    ],
  );
  table('C118 that finds a difference leads to a list of the most recent state, at once', CHECKED, [
    ...begun,
    [inconsistent(), 'report DIFFERENT, close, abandon-check, list limit=500'],
    [opened, 'begin 2'],
    [page('30'), 'end 2@30, watch rv=30'],
    [closed('31'), 'watch rv=31'],
  ]);
  table('that finds a difference during a backoff leads to a new list after it', CHECKED, [
    ...begun,
    [failed('too-many-requests'), 'report TOO-MANY-REQUESTS, close, wait 800'],
    [inconsistent(), 'report DIFFERENT'],
    [timer, 'abandon-check, watch streaming'],
  ]);

  it('says nothing about a list that was read after it', () => {
    const listing = step(initialState(SPEC), start, 0).state;
    assert.deepEqual(step(listing, inconsistent(), 0), { state: listing, effects: [] });
  });
});
