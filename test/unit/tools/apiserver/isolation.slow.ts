/** Where the server runs, access to it, and that it leaves nothing behind. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { HANG_MS } from '../../../kit/hang.ts';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';

/** Returns the status of a GET over TLS with this CA and token. */
function status(server: EmbeddedApiServer, ca: string | undefined, token: string): Promise<number> {
  const options = {
    agent: false,
    headers: { authorization: `Bearer ${token}` },
    ...(ca === undefined ? {} : { ca }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}/api/v1/pods`, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('the embedded apiserver', () => {
  for (const isolation of ['none', 'thread', 'process'] as const) {
    it(`works the same with isolation ${isolation}`, async () => {
      await using server = await startEmbeddedApiServer({ isolation });
      assert.equal(server.url, `https://127.0.0.1:${server.port}`);
      assert.equal(await status(server, server.ca, server.token), 200);
      const object = { metadata: { name: 'p' } };
      const { revision } = await server.apply([{ type: 'create', resource: 'pods', object }]);
      assert.deepEqual((await server.log('pods')).toArray(), [[revision, 'ADDED', 'default/p']]);
      assert.deepEqual(await server.state('pods'), new Map([['default/p', String(revision)]]));
      await assert.rejects(server.apply([{ type: 'create', resource: 'pods', object }]), {
        code: 'ERR_KUBELOOM_REJECTED',
      });
    });

    it(`leaves nothing behind that keeps a process alive (${isolation})`, async () => {
      const entry = new URL('../../../../src/tools/apiserver/testing/index.js', import.meta.url);
      const script = `import { startEmbeddedApiServer } from '${entry.href}';
        const server = await startEmbeddedApiServer({ isolation: '${isolation}' });
        await server.populate({ count: 10 });
        await server.close();
        await server.close();
        console.log('closed');`;
      const args = ['--input-type=module', '-e', script];
      const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: HANG_MS });
      assert.equal(stdout, 'closed\n');
    });
  }

  it('requires its CA and its token', async () => {
    await using server = await startEmbeddedApiServer({ token: 'secret' });
    await assert.rejects(status(server, undefined, 'secret'), /certificate/);
    assert.equal(await status(server, server.ca, 'secret'), 200);
    assert.equal(await status(server, server.ca, 'other'), 401);
    assert.equal(new X509Certificate(server.ca).ca, true);
    assert.equal(Buffer.from(server.caData, 'base64').toString(), server.ca);
  });

  it('gives a kubeconfig with all of it', async () => {
    await using server = await startEmbeddedApiServer();
    const [{ cluster }] = server.kubeConfig.clusters;
    assert.deepEqual(cluster, { server: server.url, 'certificate-authority-data': server.caData });
    assert.deepEqual(server.kubeConfig.users[0].user, { token: server.token });
    for (const part of [server.url, server.caData, server.token])
      assert.ok(server.kubeConfigYaml.includes(part));
    await using plain = await startEmbeddedApiServer({ tls: false, token: '' });
    assert.deepEqual(plain.kubeConfig.clusters[0].cluster, {
      server: plain.url,
      'insecure-skip-tls-verify': true,
    });
    assert.match(plain.kubeConfigYaml, /user: \{\}/);
  });

  it('listens beyond loopback when two options allow it', async () => {
    await using open = await startEmbeddedApiServer({ host: '0.0.0.0', allowRemote: true });
    assert.match(open.url, /^https:\/\/0\.0\.0\.0:/);
  });

  it('reports that its port is taken', async () => {
    await using first = await startEmbeddedApiServer();
    await assert.rejects(startEmbeddedApiServer({ port: first.port }), { errno: 'EADDRINUSE' });
  });

  it('rejects pending calls when its process dies', async () => {
    const server = await startEmbeddedApiServer({ isolation: 'process' });
    const waiting = server.waitForWatches(1);
    await server.close();
    await assert.rejects(waiting, { code: 'ERR_KUBELOOM_APISERVER_GONE' });
    await assert.rejects(server.revision(), { code: 'ERR_KUBELOOM_APISERVER_GONE' });
  });
});
