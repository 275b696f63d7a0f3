/** Arguments of the control API of the embedded apiserver: wrong ones are refused by name, and nothing is sent. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';

/** Calls with arguments that the types forbid. */
type Method = Extract<keyof EmbeddedApiServer, string>;
type Loose = Record<Method, (...values: readonly unknown[]) => Promise<unknown>>;

const RULE = { faultId: 'a', action: { type: 'reset' } };

const WRONG: readonly (readonly [method: Method, values: readonly unknown[], message: RegExp])[] = [
  ['dropWatches', ['reset'], /options of dropWatches must be an object, got "reset"/],
  ['dropWatches', [], /options of dropWatches must be an object, got undefined/],
  ['dropWatches', [{}], /options of dropWatches: how must be given, got undefined/],
  ['dropWatches', [{ how: 'x' }], /how must be 'close', 'reset' or 'resetMidLine', got "x"/],
  ['setFaults', ['x'], /scenario must be an object, got "x"/],
  ['setFaults', [null], /scenario must be an object, got null/],
  ['setFaults', [{}], /scenario: rules must be given/],
  ['setFaults', [{ rules: {} }], /rules must be an array of rules, got an object/],
  ['setFaults', [[RULE]], /scenario must be an object, got an array/],
  ['setFaults', [{ rules: [{ ...RULE, tims: 1 }] }], /rules\[0\] have no "tims": did you mean times\?/],
  [
    'setFaults',
    [{ rules: [{ ...RULE, action: { type: 'rest' } }] }],
    /action: type must be .*'reset'.*"rest"/,
  ],
  ['setFaults', [{ rules: [{ ...RULE, action: { type: 'lag' } }] }], /action: revisions must be given/],
  [
    'setFaults',
    [{ rules: [{ ...RULE, action: { type: 'hold', holdMs: 'x' } }] }],
    /holdMs must be a number from 0/,
  ],
  [
    'setFaults',
    [{ rules: [{ ...RULE, match: { verb: 'get' } }] }],
    /verb must be 'list', 'watch' or 'other'/,
  ],
  ['setFaults', [{ rules: [{ ...RULE, times: 0 }] }], /times must be an integer from 1/],
  ['restart', [5], /options of restart must be an object, got 5/],
  ['restart', [{ downMs: -1 }], /downMs must be a number from 0/],
  ['apply', [{ type: 'put' }], /changes must be an array of changes, got an object/],
  ['apply', [[{ type: 'patch', resource: 'pods', object: {} }]], /changes\[0\]: type must be .*"patch"/],
  ['apply', [[{ type: 'put', object: {} }]], /changes\[0\]: resource must be given/],
  ['apply', [[{ type: 'put', resource: 'pods' }]], /changes\[0\]: object must be given/],
  ['apply', [[{ type: 'delete', resource: 'pods' }]], /changes\[0\]: name must be given/],
  ['load', [{ durationMs: 1 }], /options of load: rate must be given/],
  ['load', [{ durationMs: 1, rate: 'most' }], /rate must be a number from 0/],
  ['populate', [{}], /options of populate: count must be given/],
  ['registerResource', [{ kind: 'Widget' }], /resource: group must be given/],
  ['compact', ['x'], /revision must be an integer from 0/],
  ['waitForWatches', [undefined], /count must be an integer from 0/],
  ['healFaults', [1], /faultId must be text, got 1/],
  ['state', [undefined], /resource must be text, got undefined/],
  ['log', [undefined], /resource must be text, got undefined/],
];

describe('the control API', () => {
  let server: EmbeddedApiServer;
  before(async () => void (server = await startEmbeddedApiServer({ tls: false })));
  after(() => server.close());

  for (const [method, values, message] of WRONG) {
    test(`refuses ${method}(${JSON.stringify(values).slice(1, -1)})`, async () => {
      const before = await server.revision();
      const call = (server as unknown as Loose)[method].bind(server);
      await assert.rejects(call(...values), { code: 'ERR_KUBELOOM_OPTION', message });
      assert.equal(await server.revision(), before);
    });
  }

  test('takes literals with any members, and typed objects', async () => {
    const pod: V1Pod = { metadata: { namespace: 'default', name: 'typed' } };
    await server.apply([
      {
        type: 'put',
        resource: 'configmaps',
        object: { metadata: { namespace: 'd', name: 'a', labels: { a: 'b' } }, data: { a: 'b' } },
      },
      { type: 'put', resource: 'pods', object: pod },
    ]);
    assert.equal((await server.state('pods')).size, 1);
  });
});
