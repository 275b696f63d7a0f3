/** Which requests of an informer call the callbacks for `connect`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stepConnect } from '../../../src/client-node/connects.ts';
import type { Announced } from '../../../src/client-node/connects.ts';
import type { ListOptions } from '../../../src/index.ts';

const STREAM: ListOptions = { sendInitialEvents: true, allowWatchBookmarks: true, resourceVersion: '5' };
const LIST: ListOptions = { resourceVersion: '0', limit: 500 };
const PAGE: ListOptions = { limit: 500, continue: 'token' };
const WATCH: ListOptions = { allowWatchBookmarks: true, resourceVersion: '5' };

/** Returns whether each of these requests is announced. */
function announcements(...requests: readonly ListOptions[]): boolean[] {
  let announced: Announced = 'none';
  return requests.map((request) => {
    const step = stepConnect(announced, request);
    announced = step.announced;
    return step.isConnect;
  });
}

describe('connect is announced', () => {
  test('once for a list, its pages and its watch', () => {
    assert.deepEqual(announcements(LIST, PAGE, PAGE, WATCH), [true, false, false, false]);
  });

  test('for each watch that continues', () => {
    assert.deepEqual(announcements(LIST, WATCH, WATCH, WATCH), [true, false, true, true]);
    assert.deepEqual(announcements(STREAM, WATCH, WATCH), [true, true, true]);
  });

  test('once for a streaming list that the server refuses, and the list in its place', () => {
    assert.deepEqual(announcements(STREAM, LIST, PAGE, WATCH, WATCH), [true, false, false, false, true]);
  });

  test('for each list', () => {
    const expected = [true, true, false, false, true, false];
    assert.deepEqual(announcements(STREAM, STREAM, LIST, WATCH, LIST, WATCH), expected);
  });
});
