/** Writes of the load test, against a server that sends exactly what the test says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiWriter, waitMsOf } from '../../../../src/tools/loadtest/write/api-writer.ts';
import { ScriptedServer, status, wirePod } from '../../../kit/scripted-server.ts';
import { until } from './watchers.ts';

const OTHERS = 64;

describe('a writer', () => {
  it('sends at most 64 requests at a time, and says when it sends one', async () => {
    await using server = await ScriptedServer.start(() => undefined);
    const writer = new ApiWriter({ server: server.url });
    let sent = 0;
    const answers = Array.from({ length: OTHERS + 1 }, () =>
      writer.send('DELETE', '/pods/a', undefined, () => sent++),
    );
    await until(() => server.requests.length === OTHERS);
    assert.equal(sent, OTHERS);
    server.requests[0]?.answer(200, wirePod('a', '7'));
    await until(() => server.requests.length === OTHERS + 1);
    for (const request of server.requests.slice(1)) request.answer(200, wirePod('a', '8'));
    const versions = await Promise.all(answers);
    assert.deepEqual(new Set(versions.map(({ metadata }) => metadata?.resourceVersion)), new Set(['7', '8']));
  });

  it('repeats only the requests that a busy server refused', async () => {
    await using server = await ScriptedServer.start((request, number) => {
      if (number === 0) request.answer(429, status(429, 'TooManyRequests'), { 'retry-after': '0' });
      else if (number === 1) request.answer(200, wirePod('a', '7'));
      else request.answer(409, status(409, 'Conflict'));
    });
    const writer = new ApiWriter({ server: server.url });
    assert.equal((await writer.send('PUT', '/pods/a', {})).metadata?.resourceVersion, '7');
    await assert.rejects(writer.send('PUT', '/pods/a', {}), { httpStatus: 409 });
    assert.equal(server.requests.length, 3);
  });

  it('waits for a busy server until it is interrupted, and no longer than 10 s whatever it asks for', async () => {
    await using server = await ScriptedServer.start((request, number) => {
      if (number === 0) request.answer(429, status(429, 'TooManyRequests'), { 'retry-after': '99999999' });
      else request.answer(200, wirePod('a', '7'));
    });
    const interruption = new AbortController();
    const writer = new ApiWriter({ server: server.url });
    const sent = writer.send('PUT', '/pods/a', {}, () => {}, interruption.signal);
    await until(() => server.requests.length === 1);
    interruption.abort();
    await assert.rejects(sent, { name: 'AbortError' });
    assert.equal(server.requests.length, 1);
    assert.equal(waitMsOf(99_999_999, 1), 10_000);
    assert.equal(waitMsOf(0, 2), 500);
  });
});
