/** Waiting for a resourceVersion: who is answered when, with what, and that nothing is left behind. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { beforeEach, describe, test } from 'node:test';
import { VersionWaiters } from '../../../src/informer/version-waiters.ts';
import { turns } from './scene.ts';

const STOPPED = { code: 'ERR_KUBELOOM_STOPPED', message: /^pods \(all namespaces\) stopped before/ };
const NOT_COMPARABLE = { code: 'ERR_KUBELOOM_RESOURCE_VERSION' };

let waiters: VersionWaiters;
let answers: string[];

beforeEach(() => {
  waiters = new VersionWaiters('pods (all namespaces)');
  answers = [];
});

/** Notes the end of a wait as `11` or `11: reason`. */
function wait(resourceVersion: string, current: string, signal?: AbortSignal): void {
  waiters.wait(resourceVersion, current, signal).then(
    () => answers.push(resourceVersion),
    (error: Error) => answers.push(`${resourceVersion}: ${error.message}`),
  );
}

describe('a wait for a resourceVersion', () => {
  test('is over at once when the store has it or a newer one, even with an aborted signal', async () => {
    await waiters.wait('10', '10');
    await waiters.wait('9', '10', AbortSignal.abort());
    await waiters.wait('9007199254740992', '9007199254740993');
    assert.equal(waiters.size, 0);
  });

  test('C144 lasts until the store has it, not a version before', async () => {
    wait('10', '');
    for (const version of ['9', '9']) waiters.advance(version);
    await turns(1);
    assert.deepEqual(answers, []);
    waiters.advance('10');
    await turns(1);
    assert.deepEqual(answers, ['10']);
    assert.equal(waiters.size, 0);
  });

  test('of many ends in the order of versions, whatever the order of asking', async () => {
    const asked = ['30', '100', '7', '31', '9', '9007199254740993', '100', '30', '1000'];
    for (const version of asked) wait(version, '5');
    waiters.advance('8');
    await turns(1);
    assert.deepEqual(answers, ['7']);
    waiters.advance('30');
    await turns(1);
    assert.deepEqual(answers, ['7', '9', '30', '30']);
    assert.equal(waiters.size, 5);
    waiters.advance('9007199254740992');
    await turns(1);
    assert.deepEqual(answers, ['7', '9', '30', '30', '31', '100', '100', '1000']);
    assert.equal(waiters.size, 1, 'versions are compared as numbers of any length');
  });

  test('for an older version than the last seen one resolves at once', async () => {
    wait('20', '5');
    await waiters.wait('10', '15');
    waiters.advance('20');
    await turns(1);
    assert.deepEqual(answers, ['20']);
  });

  test('C144 ends with the reason of its signal, and the others go on', async () => {
    const abort = new AbortController();
    wait('10', '5', abort.signal);
    wait('10', '5');
    wait('11', '5', abort.signal);
    abort.abort(new Error('no time'));
    await turns(1);
    assert.deepEqual(answers, ['10: no time', '11: no time']);
    waiters.advance('11');
    await turns(1);
    assert.deepEqual(answers, ['10: no time', '11: no time', '10']);
  });

  test('is refused when the signal is aborted already and the store is not there yet', async () => {
    const signal = AbortSignal.abort(new Error('no time'));
    await assert.rejects(waiters.wait('10', '5', signal), { message: 'no time' });
    assert.equal(waiters.size, 0);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  test('shares one listener with all waits of the same signal, and takes it away with the last', async () => {
    const abort = new AbortController();
    for (let version = 10; version < 1010; version++) wait(String(version), '5', abort.signal);
    assert.equal(getEventListeners(abort.signal, 'abort').length, 1);
    waiters.advance('1008');
    assert.equal(getEventListeners(abort.signal, 'abort').length, 1);
    waiters.advance('1009');
    assert.equal(getEventListeners(abort.signal, 'abort').length, 0);
    await turns(1);
    assert.equal(answers.length, 1000);
  });

  test('ends with a coded error when the informer stops, and so does every later one', async () => {
    const waiting = waiters.wait('10', '5');
    const rejected = assert.rejects(waiting, STOPPED);
    waiters.close();
    await rejected;
    await assert.rejects(waiters.wait('10', '5'), STOPPED);
    await waiters.wait('5', '5');
    assert.equal(waiters.size, 0);
  });

  test('for something that has no order is refused', async () => {
    for (const wrong of ['', 'abc', '010']) await assert.rejects(waiters.wait(wrong, '5'), NOT_COMPARABLE);
    assert.equal(waiters.size, 0);
  });

  test('is refused when the versions of the server have no order, now or later', async () => {
    const expected = { ...NOT_COMPARABLE, message: /"opaque-7"/ };
    const rejected = assert.rejects(waiters.wait('10', ''), expected);
    waiters.advance('opaque-7');
    await rejected;
    await assert.rejects(waiters.wait('10', 'opaque-7'), expected);
    assert.equal(waiters.size, 0);
  });
});
