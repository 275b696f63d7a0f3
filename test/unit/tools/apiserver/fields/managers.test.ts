/** Managers of fields: managedFields, updates and applies. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  NO_MANAGERS,
  afterUpdate,
  applyConfiguration,
  decodeManagers,
  encodeManagers,
} from '../../../../../src/tools/apiserver/fields/managers.ts';
import type { Applied, Managers } from '../../../../../src/tools/apiserver/fields/managers.ts';
import { schemaType } from '../../../../../src/tools/apiserver/fields/schema-types.ts';
import type { Json } from '../../../../../src/tools/apiserver/store/json.ts';

const TYPE = schemaType({ $ref: 'core.v1.ConfigMap' });
const TIME = '2026-01-01T00:00:00Z';
const LATER = '2026-01-01T00:00:01Z';

function apply(
  managers: Managers,
  live: Json,
  config: Json,
  manager: string,
  forced = false,
  time = TIME,
): Applied {
  const identity = { manager, operation: 'Apply', apiVersion: 'v1', subresource: '' } as const;
  return applyConfiguration(managers, live, config, {
    type: TYPE,
    identity,
    time,
    forced,
    owned: (fields) => fields,
  });
}

function update(managers: Managers, before: Json, after: Json, manager: string): Managers {
  const identity = { manager, operation: 'Update', apiVersion: 'v1', subresource: '' } as const;
  return afterUpdate(managers, before, after, {
    type: TYPE,
    identity,
    time: LATER,
    owned: (fields) => fields,
  });
}

const fieldsOf = (managers: Managers): object =>
  Object.fromEntries([...managers.values()].map(({ manager, fields }) => [manager, fields.texts()]));

describe('the managers of an object', () => {
  const first = apply(NO_MANAGERS, {}, { data: { a: '1', b: '1' } }, 'one');

  it('lose what an update changes or removes to the updater', () => {
    const updated = update(first.managers, first.object, { data: { a: '9' } }, 'three');
    assert.deepEqual(fieldsOf(updated), { three: ['.data.a'] });
    assert.deepEqual(fieldsOf(update(updated, { data: { a: '9' } }, { data: { a: '9' } }, 'four')), {
      three: ['.data.a'],
    });
  });

  it('are written as a cluster writes them: appliers first, then by time; and read again', () => {
    const both = update(first.managers, first.object, { data: { a: '1', b: '1', c: '1' } }, 'a-updater');
    const entries = encodeManagers(both);
    assert.deepEqual(entries, [
      {
        manager: 'one',
        operation: 'Apply',
        apiVersion: 'v1',
        time: TIME,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } },
      },
      {
        manager: 'a-updater',
        operation: 'Update',
        apiVersion: 'v1',
        time: LATER,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:c': {} } },
      },
    ]);
    assert.deepEqual(encodeManagers(decodeManagers(entries) ?? NO_MANAGERS), entries);
  });

  it('are not read from an entry without an operation, an apiVersion or a type', () => {
    const [entry = {}] = encodeManagers(first.managers);
    for (const field of ['operation', 'apiVersion', 'fieldsType'])
      assert.equal(decodeManagers([{ ...entry, [field]: '' }]), undefined, field);
  });
});
