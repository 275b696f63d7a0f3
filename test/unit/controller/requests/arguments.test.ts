/** Arguments of the client that lead to no request: each is refused with a code before anything is sent. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ObjectClient } from '../../../../src/controller/index.ts';
import { resources } from '../../../../src/index.ts';
import type { ResourceOf } from '../../../../src/index.ts';

const { deployments } = resources.apps.v1;
const KEY = 'default/web';
const WEB = { metadata: { name: 'web', namespace: 'default' }, spec: { replicas: 3 } };

const option = (message: RegExp): object => ({ code: 'ERR_KUBELOOM_OPTION', message });

describe('an argument that leads to no request', () => {
  const kind = { group: 'example.com', version: 'v1', resource: 'backups', kind: 'Backup' };
  const backups: ResourceOf<{ readonly spec: object }> = { ...kind, isNamespaced: true };
  const client = new ObjectClient({ server: 'http://127.0.0.1:1' }, { fieldManager: 'test' });
  const bare = { ...WEB, spec: undefined } as never;
  type Options = Readonly<Record<string, unknown>>;
  const METHODS: Readonly<Record<string, (options: never) => unknown>> = {
    get: (options) => client.get(deployments, KEY, options),
    list: (options) => client.list(deployments, options),
    create: (options) => client.create(deployments, bare, options),
    update: (options) => client.update(deployments, bare, options),
    updateStatus: (options) => client.updateStatus(deployments, bare, options),
    patch: (options) => client.patch(deployments, KEY, { spec: {} }, options),
    patchStatus: (options) => client.patchStatus(deployments, KEY, { status: {} }, options),
    apply: (options) => client.apply(deployments, WEB, options),
    createOrUpdate: (options) => client.createOrUpdate(deployments, KEY, () => undefined, options),
    delete: (options) => client.delete(deployments, KEY, options),
    deleteCollection: (options) =>
      client.deleteCollection(deployments, { namespace: 'default', ...(options as object) }),
  };
  const WRONG: Readonly<Record<string, readonly unknown[]>> = {
    signal: [1, {}, 'x', null],
    dryRun: [1, 'all', 'None', [], null],
    fieldManager: ['', 'a'.repeat(129), 'a\nb', 7, null],
    fieldValidation: ['strict', true, null],
    subresource: ['', '..', 'a/../b', 'Status', '/status', 'status?x=1', 7, null],
    resourceVersion: [7, null, {}],
    type: ['Merge', 'apply', 7, null],
    force: ['true', 1, null],
    uid: [7, null],
    gracePeriodSeconds: [-1, 0.5, '1', Infinity, null],
    propagationPolicy: ['foreground', true, null],
    namespace: ['', 'A', '..', 'a/b', 7, null],
    labelSelector: ['a in', '=', 7, {}, null],
    fieldSelector: ['a', 7, null],
    limit: [0, -1, 0.5, '5', null],
    resourceVersionMatch: ['exact', 7, null],
    allowInconsistent: ['yes', null],
  };
  const WRITE = 'signal dryRun fieldManager fieldValidation';
  const DELETION = 'signal dryRun gracePeriodSeconds propagationPolicy';
  const LIST = 'signal namespace labelSelector fieldSelector limit resourceVersion resourceVersionMatch';
  const KNOWN: Readonly<Record<string, string>> = {
    get: 'signal subresource resourceVersion',
    list: `${LIST} allowInconsistent`,
    create: `${WRITE} subresource`,
    update: `${WRITE} subresource`,
    updateStatus: WRITE,
    patch: `${WRITE} subresource type`,
    patchStatus: WRITE,
    apply: `${WRITE} subresource force`,
    createOrUpdate: WRITE,
    delete: `${DELETION} uid resourceVersion`,
    deleteCollection: `${DELETION} namespace labelSelector fieldSelector`,
  };

  for (const [method, call] of Object.entries(METHODS)) {
    it(`C385 is refused with a code by ${method}: each option, unknown options, no options`, async () => {
      const attempt = async (options: unknown): Promise<unknown> => call(options as never);
      for (const [name, values] of Object.entries(WRONG)) {
        for (const value of values) {
          const options: Options = { [name]: value };
          const isKnown = KNOWN[method]?.split(' ').includes(name) === true;
          await assert.rejects(attempt(options), (error: Error & { readonly code?: string }) => {
            const what = `${method} ${name} ${String(value)}`;
            assert.match(error.code ?? error.message, /^ERR_KUBELOOM_(?:OPTION|SELECTOR)$/, what);
            assert.match(error.message, isKnown ? new RegExp(`^${name}`) : /have no/);
            return true;
          });
        }
      }
      for (const options of [null, 7, 'x', []]) {
        if (method === 'deleteCollection') continue;
        await assert.rejects(attempt(options), { code: 'ERR_KUBELOOM_OPTION' }, JSON.stringify(options));
      }
    });
  }

  it('C385 is refused with advice: patches of a wrong type, objects of another type, lists without a version', async () => {
    const patch = (value: unknown, type: 'merge' | 'json' | 'strategic'): Promise<unknown> =>
      client.patch(backups, KEY, value as never, { type });
    for (const [value, type, message] of [
      [[{ op: 'add', path: '/a', value: 1 }], 'merge', /or operations with type: 'json'/],
      [{}, 'strategic', /is empty/],
      [{ spec: {} }, 'json', /pass operations/],
      [[], 'json', /is empty/],
      [[7], 'json', /operation 0 is a number/],
      [[{ op: 'delete', path: '/a' }], 'json', /operation 0 has no op of/],
      [[{ op: 'remove', path: 'a' }], 'json', /has no path/],
      [[{ op: 'move', path: '/a' }], 'json', /has no from/],
      [[{ op: 'add', path: '/a' }], 'json', /has no value/],
    ] as const) {
      await assert.rejects(patch(value, type), option(message));
    }
    const other = { ...WEB, kind: 'Pod' } as never;
    const message = /is of "apps\/v1" "Pod": pass an object of apps\/v1 Deployment/;
    await assert.rejects(client.update(deployments, other), option(message));
    await assert.rejects(client.apply(deployments, other), option(message));
    const read = { ...WEB, metadata: { ...WEB.metadata, managedFields: [] } };
    await assert.rejects(client.apply(deployments, read), option(/no metadata\.managedFields/));
    assert.throws(
      () => client.list(deployments, { resourceVersionMatch: 'Exact' }),
      option(/needs a resourceVersion/),
    );
    assert.throws(() => client.list(undefined as never), { code: 'ERR_KUBELOOM_OPTION' });
    await assert.rejects(
      client.createOrUpdate(deployments, KEY, 7 as never),
      option(/^mutate must be a function/),
    );
  });

  it('C385 is refused with advice: a signal in place of the options', async () => {
    const { signal } = new AbortController();
    const message = /^options of a get are an AbortSignal: pass \{ signal \}$/;
    await assert.rejects(client.get(deployments, KEY, signal as object), option(message));
  });

  it('C385 is refused by the constructor', () => {
    for (const options of [{ fieldManager: '' }, { onWarning: 7 }, { clock: {} }, { retries: 3 }, null, 7]) {
      const create = (): unknown => new ObjectClient({ server: 'http://127.0.0.1:1' }, options as never);
      assert.throws(create, { code: 'ERR_KUBELOOM_OPTION' });
    }
  });
});
