/** Wrong types in every argument of every method of the client of objects: a code that says what to pass, and nothing sent. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { messageOf } from '../../src/base/errors.ts';
import { ObjectClient } from '../../src/controller/index.ts';
import { KubeloomError, resources } from '../../src/index.ts';
import { RecordingServer } from '../unit/controller/requests/recording-server.ts';
import { HOSTILE_VALUES, HostileError } from './hostile.ts';

const { configMaps } = resources.core.v1;
const KEY = 'a/b';
const OBJECT = { metadata: { name: 'b', namespace: 'a' } };

/** Usual arguments of each method; the last are the options. */
const METHODS: Readonly<Record<string, readonly unknown[]>> = {
  get: [configMaps, KEY, {}],
  list: [configMaps, {}],
  create: [configMaps, OBJECT, {}],
  update: [configMaps, OBJECT, {}],
  updateStatus: [configMaps, OBJECT, {}],
  patch: [configMaps, KEY, { data: {} }, {}],
  patchStatus: [configMaps, KEY, { status: {} }, {}],
  apply: [configMaps, OBJECT, {}],
  createOrUpdate: [configMaps, KEY, () => undefined, {}],
  delete: [configMaps, KEY, {}],
  deleteCollection: [configMaps, { namespace: 'a' }],
};

/** Values that are right in this place: absent or empty options, and an object with any members as a patch. */
function isRight(method: string, position: number, value: unknown): boolean {
  const isOptions = position === (METHODS[method]?.length ?? 0) - 1;
  if (value === undefined) return isOptions && method !== 'deleteCollection';
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    if (isOptions) return Object.keys(value).length === 0 && method !== 'deleteCollection';
    if (method.startsWith('patch') && position === 2) return Object.keys(value).length > 0;
  }
  return method === 'createOrUpdate' && position === 2 && typeof value === 'function';
}

describe('C385 wrong types are refused before anything is sent by', () => {
  for (const [method, usual] of Object.entries(METHODS)) {
    test(method, async () => {
      await using server = await RecordingServer.start(() => ({ body: '{}' }));
      const client = server.client({ fieldManager: 'fuzz' });
      const complaints: string[] = [];
      for (const position of usual.keys()) {
        for (const hostile of HOSTILE_VALUES) {
          const value: unknown = hostile();
          if (isRight(method, position, value)) continue;
          try {
            const call = Reflect.get(ObjectClient.prototype, method) as (...args: unknown[]) => unknown;
            const made = await call.apply(client, usual.with(position, value));
            if (method === 'list') continue;
            complaints.push(`argument ${position}: ${typeof value} was taken, ${String(made).slice(0, 40)}`);
          } catch (error) {
            const isCoded = error instanceof KubeloomError && /_(?:OPTION|KEY|SELECTOR)$/.test(error.code);
            if (!isCoded && !(error instanceof HostileError))
              complaints.push(`argument ${position}: ${messageOf(error)}`);
          }
        }
      }
      assert.deepEqual([...new Set(complaints)], []);
      assert.deepEqual(server.requests, []);
    });
  }
});
