/** Bodies in protobuf: the kinds of `kubectl create`, and the refusal of everything else. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../../src/tools/apiserver/store/status.ts';
import { readProtobuf } from '../../../../src/tools/apiserver/wire/protobuf.ts';

/** A length-delimited field shorter than 128 bytes. */
function bytes(number: number, ...content: readonly (string | Buffer)[]): Buffer {
  const value = Buffer.concat(content.map((part) => Buffer.from(part as string)));
  return Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);
}

function varint(number: number, value: number): Buffer {
  return Buffer.from([number << 3, value]);
}

function envelope(apiVersion: string, kind: string, ...raw: readonly Buffer[]): Buffer {
  return Buffer.concat([
    Buffer.from('k8s\0'),
    bytes(1, bytes(1, apiVersion), bytes(2, kind)),
    bytes(2, ...raw),
  ]);
}

describe('a body in protobuf', () => {
  it('becomes the object that Go would write as JSON: without empty texts and times', () => {
    const metadata = bytes(1, bytes(1, 'a'), bytes(2, ''), bytes(8), bytes(11, bytes(1, 'x'), bytes(2, '')));
    const data = bytes(2, bytes(1, 'key'), bytes(2, 'value'));
    assert.deepEqual(readProtobuf(envelope('v1', 'ConfigMap', metadata, data, varint(4, 0))), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', labels: { x: '' } },
      data: { key: 'value' },
      immutable: false,
    });
  });

  it('has numbers, lists, bytes and values of two types', () => {
    const port = bytes(1, varint(3, 80), bytes(4, varint(1, 1), bytes(3, 'web')), varint(5, 0));
    const named = bytes(1, varint(3, 81), bytes(4, varint(1, 0), varint(2, 90)));
    const { spec } = readProtobuf(envelope('v1', 'Service', bytes(2, port, named)));
    assert.deepEqual(spec, {
      ports: [
        { port: 80, targetPort: 'web' },
        { port: 81, targetPort: 90 },
      ],
    });
    const secret = readProtobuf(envelope('v1', 'Secret', bytes(2, bytes(1, 'k'), bytes(2, 'v'))));
    assert.deepEqual(secret['data'], { k: Buffer.from('v').toString('base64') });
  });

  it('has exact integers of 64 bits', () => {
    const digits = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80];
    for (const [end, value] of [
      [[0x10], 9_007_199_254_740_993n],
      [[0x08], 4_503_599_627_370_497],
      [[0x80, 0x80, 0x01], -9_223_372_036_854_775_807n],
    ] as const) {
      const revision = Buffer.from([3 << 3, 0x81, ...digits.slice(1), ...end]);
      const object = readProtobuf(envelope('apps/v1', 'ControllerRevision', revision));
      assert.equal(object['revision'], value);
    }
  });

  it('is refused with a kind or a field that this server does not read, and with what to do', () => {
    for (const body of [
      envelope('v1', 'Odd'),
      envelope('v1', 'ConfigMap', bytes(9, 'x')),
      envelope('v1', 'ConfigMap', Buffer.from([0x0d, 0, 0, 0, 0])),
      envelope('v1', 'ConfigMap').subarray(0, -3),
      Buffer.from('{}'),
      Buffer.from('k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff', 'latin1'),
    ]) {
      assert.throws(
        () => readProtobuf(body),
        (error: StatusError) =>
          error instanceof StatusError && error.status.code === 415 && /kubectl apply -f/.test(error.message),
      );
    }
  });

  it('keeps names of Object.prototype as data', () => {
    const data = bytes(2, bytes(1, '__proto__'), bytes(2, 'kept'));
    const object = readProtobuf(envelope('v1', 'ConfigMap', data));
    assert.equal(JSON.stringify(object['data']), '{"__proto__":"kept"}');
  });

  it('has the members of embedded messages among the members of the object', () => {
    const volume = bytes(1, bytes(1, 'v'), bytes(2, bytes(2, bytes(1, 'Memory'))));
    const { spec } = readProtobuf(envelope('v1', 'Pod', bytes(2, volume)));
    assert.deepEqual(spec, { volumes: [{ name: 'v', emptyDir: { medium: 'Memory' } }] });
  });
});
