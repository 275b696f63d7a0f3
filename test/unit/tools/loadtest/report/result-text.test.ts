/** The result of a load test as text. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resultText } from '../../../../../src/tools/cli/loadtest/loadtest-text.ts';
import { exampleResult } from '../example-result.ts';

it('the text of a result shows the server’s stages between the steps of a write, and names the absent ones', () => {
  const text = resultText(exampleResult());
  assert.match(
    text,
    /^steady +due to sent .*\nsteady +sent to answered .*\nsteady +server: request PUT +20,000 .*\nsteady +server: etcd update .*\nsteady +answered to handler .*\nsteady +server: dispatch to watchers total /m,
  );
  assert.match(text, /^not offered by this server: apiserver_watch_cache_read_wait_seconds$/m);
});

it('the text of a result says why the server’s stages are missing', () => {
  const serverStages = { stages: [], absent: [], unread: 'GET /metrics was not answered within 10 s' };
  const text = resultText({ ...exampleResult(), serverStages });
  assert.match(text, /^the server's stages are incomplete: GET \/metrics was not answered within 10 s$/m);
  assert.doesNotMatch(text, /server: /);
});
