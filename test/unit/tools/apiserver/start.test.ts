/** Wrong options of the embedded apiserver. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';

const WIDGETS = { group: 'x.io', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true };

test('options that are wrong or unknown, and resources that are none, are refused in every isolation', async () => {
  const wrong = [
    null,
    [],
    () => 7,
    { isolation: 'worker' },
    { token: () => 'x' },
    { resources: { map: () => [] } },
    { resources: [7] },
    { resources: [{ ...WIDGETS, kind: Symbol('x') }] },
    { ports: 80 },
  ];
  for (const options of wrong) {
    for (const isolation of ['none', 'thread', 'process'] as const) {
      const given = options && 'length' in options ? options : { isolation, ...options };
      await assert.rejects(startEmbeddedApiServer((options && given) as never), {
        code: 'ERR_KUBELOOM_OPTION',
      });
    }
  }
});

test('an option that is undefined counts as absent', async () => {
  const absent = { host: undefined, resources: undefined, token: undefined, tls: false };
  const server = await startEmbeddedApiServer({ isolation: 'none', ...absent } as never);
  await server.close();
});

test('a function within a resource cannot be sent to the thread or process of the server, and is refused', async () => {
  const resources = [{ ...WIDGETS, fields: { 'spec.size': () => 7 } }] as never;
  for (const isolation of ['thread', 'process'] as const)
    await assert.rejects(startEmbeddedApiServer({ isolation, resources }), {
      code: 'ERR_KUBELOOM_OPTION',
      message: /^the arguments of start must be data, without functions/,
    });
});
