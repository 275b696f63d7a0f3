/** Names of Object.prototype in bodies, patches and schemas: they are data. */
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { shape } from '../../../../src/tools/apiserver/crd/schema.ts';
import type { SchemaNode } from '../../../../src/tools/apiserver/crd/schema-node.ts';
import { validatorOf } from '../../../../src/tools/apiserver/crd/validation.ts';
import type { Json, KubeObject } from '../../../../src/tools/apiserver/store/json.ts';
import { builtInResources } from '../../../../src/tools/apiserver/shapes/built-in-resources.ts';
import { ResourceTable } from '../../../../src/tools/apiserver/store/resources.ts';
import { applyPatch } from '../../../../src/tools/apiserver/write/patch.ts';
import { StatusError } from '../../../../src/tools/apiserver/store/status.ts';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
const BEFORE = Object.getOwnPropertyNames(Object.prototype).join();

const CONFIG_MAPS = new ResourceTable(builtInResources()).named('configmaps');

function objectOf(text: string): KubeObject {
  return JSON.parse(text) as KubeObject;
}

afterEach(() => assert.equal(Object.getOwnPropertyNames(Object.prototype).join(), BEFORE));

describe('C271 hostile names', () => {
  for (const type of ['merge-patch+json', 'strategic-merge-patch+json']) {
    test(`C271 a patch of the type ${type} sets, merges and removes them as data`, () => {
      for (const name of NAMES) {
        const current = objectOf(`{"metadata":{},"data":{"a":"b","${name}":{"x":"1"}}}`);
        const patched = (patch: string): string =>
          JSON.stringify(applyPatch(`application/${type}`, CONFIG_MAPS, current, Buffer.from(patch)).object);
        assert.equal(
          patched(`{"data":{"${name}":{"y":"2"}}}`),
          `{"metadata":{},"data":{"a":"b","${name}":{"x":"1","y":"2"}}}`,
        );
        assert.equal(patched(`{"data":{"${name}":null}}`), '{"metadata":{},"data":{"a":"b"}}');
        assert.equal(
          patched(`{"${name}":{"z":"3"}}`),
          `{"metadata":{},"data":{"a":"b","${name}":{"x":"1"}},"${name}":{"z":"3"}}`,
        );
      }
    });
  }

  test('C271 a JSON patch walks through own members only', () => {
    const apply = (op: object): string =>
      JSON.stringify(
        applyPatch(
          'application/json-patch+json',
          CONFIG_MAPS,
          objectOf('{"metadata":{},"data":{}}'),
          Buffer.from(JSON.stringify([op])),
        ).object,
      );
    for (const path of [
      '/__proto__/a',
      '/constructor/prototype/a',
      '/data/__proto__/a',
      '/data/toString/a',
    ]) {
      for (const op of [
        { op: 'add', path, value: 'yes' },
        { op: 'copy', from: '/data', path },
        { op: 'remove', path: path.replace(/a$/, 'isPrototypeOf') },
        { op: 'test', path: path.slice(0, -2), value: {} },
      ])
        assert.throws(() => apply(op), StatusError, JSON.stringify(op));
    }
    for (const name of NAMES)
      assert.equal(
        apply({ op: 'add', path: `/data/${name}`, value: 'x' }),
        `{"metadata":{},"data":{"${name}":"x"}}`,
      );
  });

  test('C271 a schema keeps, defaults, requires and checks them like every other name', () => {
    for (const name of NAMES) {
      const property = (text: string): SchemaNode =>
        JSON.parse(`{"type":"object","properties":{"${name}":${text}}}`) as SchemaNode;
      const given = JSON.parse(`{"${name}":"x"}`) as Json;
      assert.equal(
        JSON.stringify(shape(given, property('{"type":"string"}'), '', { unknown: [], keepsNulls: false })),
        `{"${name}":"x"}`,
      );
      assert.equal(
        JSON.stringify(shape({}, property('{"default":"y"}'), '', { unknown: [], keepsNulls: false })),
        `{"${name}":"y"}`,
      );
      const unknown: string[] = [];
      assert.equal(
        JSON.stringify(shape(given, { type: 'object', properties: {} }, '', { unknown, keepsNulls: false })),
        '{}',
      );
      assert.deepEqual(unknown, [name]);
      const required = { type: 'object', required: [name] };
      const missing = validatorOf(required)(objectOf('{"metadata":{}}')).map(({ field }) => field);
      assert.deepEqual(missing, [name]);
      assert.deepEqual(validatorOf(required)(objectOf(`{"metadata":{},"${name}":"x"}`)), []);
    }
  });

  test('C271 an object that is created with them has them when it is read', async () => {
    await using server = await startEmbeddedApiServer({ tls: false });
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
    const path = `${server.url}/api/v1/namespaces/default/configmaps`;
    const data = `"data":{${NAMES.map((name) => `"${name}":"x"`).join()}}`;
    const metadata =
      '"metadata":{"name":"a","__proto__":{"namespace":"kube-system"},"labels":{"constructor":"y"}}';
    const created = await fetch(path, {
      method: 'POST',
      headers,
      body: `{"kind":"ConfigMap",${metadata},${data}}`,
    });
    assert.equal(created.status, 201);
    const text = await (await fetch(`${path}/a`, { headers })).text();
    assert.ok(text.includes(data), text);
    assert.equal((JSON.parse(text) as KubeObject).metadata.namespace, 'default');
  });
});
