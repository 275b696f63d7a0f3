/** When client-node is loaded, and what is said when it cannot be. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { clientNode } from '../../src/kube/client-node.ts';

const INDEX = new URL('../../src/index.js', import.meta.url).href;
/** Node's own hooks: whoever imports client-node fails. */
const REFUSAL = `export function resolve(specifier, context, next) {
  if (specifier === '@kubernetes/client-node') throw new Error('client-node was imported');
  return next(specifier, context);
}`;

test('kubeloom is imported without client-node', async () => {
  const program = `
    import { register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(REFUSAL)}));
    const { SharedIndexInformer } = await import('${INDEX}');
    await import('@kubernetes/client-node').catch(({ message }) => console.log(typeof SharedIndexInformer, message));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  assert.equal(stdout, 'function client-node was imported\n');
});

test('what is loaded is what programs import', async () => {
  assert.equal(clientNode(), await import('@kubernetes/client-node'));
});

test('a client-node that is missing or too new is an error that says what to install', () => {
  const broken = (): never => {
    throw new TypeError("Cannot read properties of undefined (reading 'bind')\n    at undici");
  };
  assert.throws(() => clientNode(broken), {
    code: 'ERR_KUBELOOM_CLIENT_NODE',
    message:
      "@kubernetes/client-node cannot be loaded (Cannot read properties of undefined (reading 'bind')): " +
      'install @kubernetes/client-node@1, or with Node 22 and later version 2',
  });
});
