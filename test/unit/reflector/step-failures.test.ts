/** The rules for refusals of servers: internal errors and credentials. */
import { describe } from 'node:test';
import {
  AUTO,
  closed,
  failed,
  initialEventsEnd,
  later,
  opened,
  page,
  paged,
  start,
  streaming,
  synced,
  table,
  timer,
} from './scripts.ts';

const PATIENT = { maxInternalErrorRetryDurationMs: 10_000 };
const again = 'report INTERNAL-ERROR, close, watch rv=10';

describe('an internal error of a watch', () => {
  table('C112 leads to a list after a backoff by default', {}, [
    ...synced,
    [failed('internal-error', { at: '15' }), 'report INTERNAL-ERROR, close, wait 800'],
    [timer, 'list rv=15'],
  ]);
  table('C112 is retried at once with the same watch, up to the end of the retry duration', PATIENT, [
    ...synced,
    [failed('internal-error'), again],
    [later(failed('internal-error'), 9_999), again],
    [later(failed('internal-error'), 1), again],
    [later(failed('internal-error'), 1), 'report INTERNAL-ERROR, close, wait 800'],
    [timer, 'list rv=10'],
  ]);
  table('begins a new retry duration when the last error was a minute ago', PATIENT, [
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
  table('leaves the retry duration as it is after other failures', PATIENT, [
    ...synced,
    [failed('internal-error'), again],
    [later(failed('stalled'), 5000), 'report STALLED, close, watch rv=10'],
    [later(failed('internal-error'), 5000), again],
    [later(failed('internal-error'), 1), 'report INTERNAL-ERROR, close, wait 800'],
  ]);
  table('in a streaming list leads to a list at once', { ...AUTO, ...PATIENT }, [
    ...streaming,
    [failed('internal-error'), 'report INTERNAL-ERROR, close, abort 1, list rv=0 limit=500'],
  ]);
});

describe('refused credentials', () => {
  table('are renewed once and the list is repeated at once', {}, [
    [start, 'list rv=0 limit=500'],
    [failed('unauthorized'), 'close, list rv=0 limit=500 (new credentials)'],
    [opened, 'begin 1'],
    [page('10'), 'end 1@10, watch rv=10'],
  ]);
  table('C113 are reported when the new ones are refused too, and renewed after a delay', {}, [
    [start, 'list rv=0 limit=500'],
    [failed('unauthorized'), 'close, list rv=0 limit=500 (new credentials)'],
    [failed('unauthorized'), 'report UNAUTHORIZED, close, wait 800'],
    [timer, 'list rv=0 limit=500'],
    [failed('unauthorized'), 'close, list rv=0 limit=500 (new credentials)'],
    [failed('unauthorized'), 'report UNAUTHORIZED, close, wait 1600'],
  ]);
  table('between two pages repeat only that page', {}, [
    ...paged,
    [failed('unauthorized'), 'close, list limit=500 continue=token (new credentials)'],
    [opened, ''],
    [page('10'), 'end 1@10, watch rv=10'],
  ]);
  table('of a watch are renewed, and it resumes without a list', {}, [
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
