/** Which servers an informer asks for gzip. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asksForGzip } from '../../../src/http/compression.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';

const REMOTE = kubeConfigFor('https://cluster.example.com:6443');

test('gzip is asked for at servers beyond this machine that a kubeconfig names', () => {
  assert.equal(asksForGzip(REMOTE, undefined, {}), true);
  assert.equal(asksForGzip(kubeConfigFor('https://10.0.0.1:6443'), 'auto', {}), true);
  assert.equal(asksForGzip(kubeConfigFor('cluster.example.com:6443'), 'auto', {}), true);
  for (const here of [
    'https://127.0.0.1:6443',
    'https://[::1]:6443',
    'http://localhost:8080',
    'localhost:8080',
  ])
    assert.equal(asksForGzip(kubeConfigFor(here), 'auto', {}), false, here);
  assert.equal(asksForGzip({ server: 'https://cluster.example.com' }, 'auto', {}), false, 'a connection');
});

test('gzip is not asked for in a pod, nor of a kubeconfig without a cluster', () => {
  assert.equal(asksForGzip(REMOTE, 'auto', { KUBERNETES_SERVICE_HOST: '10.0.0.1' }), false);
  const empty = kubeConfigFor('https://cluster.example.com');
  empty.setCurrentContext('absent');
  assert.equal(asksForGzip(empty, 'auto', {}), false);
});

test('the option decides alone when it is on or off', () => {
  const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };
  assert.equal(asksForGzip({ server: 'http://127.0.0.1:1' }, 'on', pod), true);
  assert.equal(asksForGzip(REMOTE, 'off', {}), false);
});
