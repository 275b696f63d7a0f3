/** Errors for the callbacks of a ListWatch: branches that compare client-node's codes, and kubeloom's code beside them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { KubeConfig, Watch } from '@kubernetes/client-node';
import { ListWatch } from '../../../src/client-node/index.ts';
import { ListWatchError, toListWatchError } from '../../../src/client-node/list-watch-error.ts';
import { KubeloomError, InformerThreads } from '../../../src/index.ts';

const reset = new KubeloomError('ERR_KUBELOOM_CONNECTION_RESET', 'the connection was closed');

function withDetails(details: Readonly<Record<string, unknown>>): KubeloomError {
  return Object.assign(new KubeloomError('ERR_KUBELOOM_UNREACHABLE', 'cannot reach it'), details);
}

describe('an error of a request', () => {
  for (const [details, code, statusCode] of [
    [{ httpStatus: 403, reason: 'Forbidden' }, 403, 403],
    [{ errno: 'ECONNREFUSED' }, 'ECONNREFUSED', undefined],
    [{ errno: 'HTTP_CLOSED_EARLY' }, 'ECONNRESET', undefined],
    [{ errno: 'HTTP_HEADERS_TIMEOUT' }, 'ETIMEDOUT', undefined],
  ] as const) {
    test(`has the code that a client-node program compares: ${inspect(details)}`, () => {
      const cause = withDetails(details);
      const error = toListWatchError(cause);
      assert.ok(error instanceof ListWatchError);
      assert.deepEqual([error.code, error.statusCode], [code, statusCode]);
      assert.deepEqual([error.kubeloomCode, error.message, error.cause], [cause.code, cause.message, cause]);
    });
  }

  for (const error of [reset, withDetails({ errno: '' }), withDetails({ errno: 'HTTP_CHUNK_SIZE' })]) {
    test(`is passed on when client-node has no code for it: ${inspect({ ...error })}`, () => {
      assert.equal(toListWatchError(error), error);
    });
  }

  test('is printed with the frames of its cause only', () => {
    const text = inspect(toListWatchError(withDetails({ httpStatus: 403 })));
    assert.equal(
      text.split('list-watch-error.test').length,
      inspect(withDetails({})).split('list-watch-error.test').length,
    );
    assert.match(text, /ListWatchError: cannot reach it/);
  });

  test('of a server that does not listen has the code ECONNREFUSED', async () => {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromClusterAndUser(
      { name: 'none', server: 'http://127.0.0.1:1', skipTLSVerify: true },
      { name: 'user' },
    );
    await using threads = new InformerThreads({ indexerThreads: 0 });
    const watch = new Watch(kubeConfig);
    const list = () => Promise.reject(new Error('it is not called'));
    const informer = new ListWatch('/api/v1/pods', watch, list, false, undefined, undefined, { threads });
    const failed = new Promise<ListWatchError>((resolve) => informer.on('error', resolve));
    void informer.start();
    const { code, kubeloomCode } = await failed;
    await informer.stop();
    assert.deepEqual([code, kubeloomCode], ['ECONNREFUSED', 'ERR_KUBELOOM_UNREACHABLE']);
  });
});
