/** A member found from the end of an object is the member of JSON.parse. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  NO_MEMBER,
  UNREADABLE_MEMBERS,
  lastMemberEnd,
  memberBefore,
  memberEndBefore,
} from '../../../../src/kube/json/member-from-end.ts';
import { keyEquals } from '../../../../src/kube/json/read.ts';
import { randomJson, writeJson } from './random-json.ts';
import { Seeded } from './seeded.ts';

const OBJECTS = 100_000;

/** Returns the text of the member; undefined when it is absent, null when the object cannot be read. */
function memberOf(object: string | Buffer, key: string): string | undefined | null {
  const before = Buffer.from('}"\\');
  const bytes = Buffer.concat([before, Buffer.from(object), Buffer.from(':"{')]);
  const start = before.length;
  const end = bytes.length - 3;
  const place = { keyStart: 0, keyEnd: 0, valueStart: 0 };
  let valueEnd = lastMemberEnd(bytes, start, end);
  while (valueEnd > 0) {
    if (!memberBefore(bytes, start, valueEnd, place)) return null;
    if (keyEquals(bytes, place.keyStart, place.keyEnd, Buffer.from(key)))
      return bytes.toString('utf8', place.valueStart, valueEnd);
    valueEnd = memberEndBefore(bytes, start, place.keyStart);
  }
  assert.ok(valueEnd === NO_MEMBER || valueEnd === UNREADABLE_MEMBERS);
  return valueEnd === NO_MEMBER ? undefined : null;
}

describe('a member found from the end', () => {
  it('is the text of its value, for any value in any surroundings', () => {
    const object = ' { "a" : 1 ,"spec":{"x":["}",{"y":"\\\\\\""}]} , "t":true,"n":null,"s":"q\\"\\\\"}\n';
    assert.equal(memberOf(object, 's'), '"q\\"\\\\"');
    assert.equal(memberOf(object, 'n'), 'null');
    assert.equal(memberOf(object, 't'), 'true');
    assert.equal(memberOf(object, 'spec'), '{"x":["}",{"y":"\\\\\\""}]}');
    assert.equal(memberOf(object, 'a'), '1');
    for (const absent of ['x', 'y', 'A', '', 'spec.x'])
      assert.equal(memberOf(object, absent), undefined, absent);
    assert.equal(memberOf('{}', 'a'), undefined);
    assert.equal(memberOf(' { } ', 'a'), undefined);
  });

  it('is the last one of several with a key, also when a key is written with escapes', () => {
    assert.equal(memberOf('{"a":1,"a":2}', 'a'), '2');
    assert.equal(memberOf('{"a":1,"\\u0061":2,"b":3}', 'a'), '2');
  });

  it('is refused where the bytes behind it are not JSON', () => {
    for (const text of [
      '',
      '{',
      '}',
      '"a":1}',
      '{"a":1}x',
      '{"a" 1}',
      '{a:1}',
      '{"b":1 2}',
      '{"a":]}',
      '{"b":}',
      '[1]',
    ])
      assert.equal(memberOf(text, 'c'), null, text);
  });

  it(`C330 is that of JSON.parse for ${OBJECTS.toLocaleString('en-US')} random objects, many of them damaged`, () => {
    const random = new Seeded(31);
    let found = 0;
    for (let count = 0; count < OBJECTS; count++) {
      const members = Array.from({ length: random.below(5) }, () => {
        const key = writeJson(random.pick(['spec', 'status', 'data', 'ü', '']), random, {
          spaces: 0,
          escapes: 0.1,
        });
        return `${key}:${writeJson(randomJson(random, 3), random, { spaces: 0.1, escapes: 0.1 })}`;
      });
      const bytes = Buffer.from(`{${members.join(',')}}`);
      if (random.chance(0.5))
        bytes[random.below(bytes.length)] = random.pick([...Buffer.from('"\\{}[],: 0a')]);
      const key = random.pick(['spec', 'status', 'data', 'ü', '']);
      const member = memberOf(bytes, key);
      let whole: Record<string, unknown>;
      try {
        whole = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
      } catch {
        // The place of the damage decides whether the member is found.
        continue;
      }
      found++;
      assert.notEqual(member, null, bytes.toString());
      assert.deepEqual(
        member === undefined ? undefined : JSON.parse(member ?? ''),
        Object.hasOwn(whole, key) ? whole[key] : undefined,
        bytes.toString(),
      );
    }
    assert.ok(found > OBJECTS / 2, `${found} objects`);
  });
});
