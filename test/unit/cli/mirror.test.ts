/** The address of `kubeloom mirror`, from its flags. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressOf } from '../../../src/cli/mirror.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';

const REFUSED = { code: 'ERR_KUBELOOM_USAGE' };

describe('the address of a mirror', () => {
  it('is a Unix socket without a token', async () => {
    assert.deepEqual(await addressOf({ unix: '/run/mirror.sock' }), { socketPath: '/run/mirror.sock' });
  });

  it('is a port with the token of the file, or with a random one', async () => {
    await using folder = new TemporaryFolder();
    const tokenFile = folder.write('token', 's3cret\n');
    assert.deepEqual(await addressOf({ port: 0, tokenFile, kubeconfigOut: 'kubeconfig' }), {
      port: 0,
      token: 's3cret',
    });
    const random = await addressOf({ port: 0, kubeconfigOut: 'kubeconfig' });
    assert.ok('token' in random && random.token.length > 30);
  });

  it('is refused without a place to listen, without a kubeconfig for a port, and with a token for a Unix socket', async () => {
    for (const flags of [
      {},
      { port: 1 },
      { port: 1, tokenFile: 'b' },
      { unix: 'a', tokenFile: 'b' },
      { unix: 'a', kubeconfigOut: 'b' },
    ]) {
      await assert.rejects(addressOf(flags), REFUSED, JSON.stringify(flags));
    }
  });

  it('is refused when the token file is missing, empty, or has several words', async () => {
    await using folder = new TemporaryFolder();
    const files = [folder.file('missing'), folder.write('empty', '\n'), folder.write('words', 'two words')];
    for (const tokenFile of files)
      await assert.rejects(
        addressOf({ port: 0, tokenFile, kubeconfigOut: 'kubeconfig' }),
        REFUSED,
        tokenFile,
      );
  });
});
