/** Uids of objects as numbers: what is read as a UUID, and that every uid comes back as it was. */
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { Uuid, uuidText } from '../../../../src/replica/store/extracted-fields.ts';
import type { ObjectFacts } from '../../../../src/replica/store/extracted-fields.ts';
import { factsOf } from './objects.ts';

const UUID = '0a1b2c3d-4e5f-6789-abcd-ef0123456789';

function factsWith(uid: string): ObjectFacts {
  const identity = { key: 'default/web', namespace: 'default', name: 'web' };
  return factsOf(identity, Buffer.from(JSON.stringify([uid, 7])).toString('latin1'));
}

/** Texts that differ from a UUID in a single character. */
const NO_UUIDS: readonly string[] = [
  ...Array.from(UUID, (_, at) => `${UUID.slice(0, at)}g${UUID.slice(at + 1)}`),
  ...Array.from(UUID, (_, at) => `${UUID.slice(0, at)}\u0130${UUID.slice(at + 1)}`),
  UUID.toUpperCase(),
  UUID.slice(1),
  `${UUID}0`,
  `{${UUID}}`,
  UUID.replaceAll('-', ''),
  '00000000-0000-0000-0000-000000000000',
  'ü',
  '"\\',
  '',
];

describe('a uid', () => {
  test('that is a UUID is read from the last byte of a buffer', () => {
    const token = Buffer.from(`"${UUID}"`);
    const uuid = new Uuid();
    assert.ok(uuid.read(token, 0, token.length));
    assert.equal(uuidText(uuid), UUID);
    assert.ok(!uuid.read(token, 0, token.length - 1), 'a token that ends behind the end');
    assert.deepEqual({ ...uuid }, { a: 0, b: 0, c: 0, d: 0 });
  });

  test('of random digits comes back, and equals no other uid', () => {
    for (let turn = 0; turn < 1000; turn++) {
      const uid = randomUUID();
      const facts = factsWith(uid);
      assert.equal(facts.uid, uid);
      assert.ok(facts.hasUid(uid));
      assert.ok(facts.equals(factsWith(uid)));
      assert.ok(!facts.hasUid(UUID) && !facts.equals(factsWith(UUID)));
    }
  });

  test('that differs in a single digit is another uid', () => {
    const facts = factsWith(UUID);
    for (let at = 0; at < UUID.length; at++) {
      if (UUID[at] === '-') continue;
      const other = `${UUID.slice(0, at)}${UUID[at] === 'f' ? '0' : 'f'}${UUID.slice(at + 1)}`;
      assert.ok(!facts.hasUid(other), other);
      assert.ok(!facts.equals(factsWith(other)), other);
    }
  });

  test('of any other form comes back as it was', () => {
    for (const uid of NO_UUIDS) {
      const facts = factsWith(uid);
      assert.equal(facts.uid, uid);
      assert.ok(facts.hasUid(uid) && facts.equals(factsWith(uid)), uid);
      assert.ok(!facts.hasUid(`${uid}x`) && !facts.equals(factsWith(`${uid}x`)), uid);
      assert.ok(!facts.hasUid(UUID) && !facts.equals(factsWith(UUID)), uid);
      assert.ok(!factsWith(UUID).hasUid(uid), uid);
      assert.ok(factsWith(UUID).hasUid(UUID), `after ${uid}`);
    }
  });
});
