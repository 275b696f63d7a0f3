/** The choice of samples: few of objects that are alike, and an end of objects that are not. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Dictionary } from '../../../../src/shared/pack/pack.ts';
import type { Viewed } from '../../../../src/shared/pack/pack.ts';
import { OBJECT_BYTES_MAX, Sampler, copyToPack } from '../../../../src/shared/pack/sampler.ts';
import { samplePod } from '../../../../src/tools/apiserver/load/sample-pod.ts';
import { seededRandom } from '../../shared/ring/random.ts';

const target: Buffer = Buffer.alloc(OBJECT_BYTES_MAX);
let dictionaries = 0;
let sampler: Sampler;

beforeEach(() => {
  dictionaries = 0;
  sampler = new Sampler(() => new Dictionary(++dictionaries));
});

function copyOf(bytes: Buffer): Viewed {
  const copy = copyToPack(bytes, 0, bytes.length);
  assert.ok(copy);
  return copy;
}

function pod(index: number): Viewed {
  return copyOf(Buffer.from(JSON.stringify(samplePod({ index, namespace: 'default', bytes: 5000 }))));
}

function noise(seed: number, bytes: number): Viewed {
  const random = seededRandom(seed);
  return copyOf(Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256))));
}

/** Packs as the callers do: they count what a dictionary saves. */
function pack(object: Viewed): number {
  const packedBytes = sampler.pack(object, target);
  if (packedBytes >= 0 && sampler.current) sampler.current.savedBytes += object.length - packedBytes;
  return packedBytes;
}

describe('a sampler', () => {
  it('makes the first object a sample, and packs those like it against it', () => {
    pack(pod(0));
    assert.ok(sampler.hasAdded);
    const packedBytes = pack(pod(1));
    assert.equal(sampler.hasAdded, false);
    assert.ok(packedBytes > 0 && packedBytes < 700, `${packedBytes} bytes`);
  });

  it('begins a further dictionary when one that paid off is full, and is not fruitless', () => {
    for (let index = 0; index < 14; index++) {
      for (let like = 0; like < 60; like++) pack(pod(like));
      pack(noise(index, 5000));
      assert.equal(sampler.isFruitless, false);
    }
    assert.equal(dictionaries, 2);
  });

  it('is fruitless at the first object that does not fit into a dictionary that did not pay off', () => {
    for (let index = 0; index < 13; index++) {
      pack(noise(index, 5000));
      assert.equal(sampler.isFruitless, false);
    }
    pack(noise(13, 5000));
    assert.ok(sampler.isFruitless);
    assert.equal(dictionaries, 2);
    pack(pod(0));
    assert.equal(sampler.isFruitless, false);
  });

  it('makes no sample of an object above half a dictionary, and cannot pack it', () => {
    assert.equal(pack(noise(1, 40_000)), -1);
    assert.equal(sampler.hasAdded, false);
  });
});

describe('a copy to pack', () => {
  it('exists of objects from 128 bytes to 64 KiB only', () => {
    const bytes = Buffer.alloc(OBJECT_BYTES_MAX + 1, 1);
    const lengths = [127, 128, OBJECT_BYTES_MAX, OBJECT_BYTES_MAX + 1];
    assert.deepEqual(
      lengths.map((length) => copyToPack(bytes, 0, length)?.length),
      [undefined, 128, OBJECT_BYTES_MAX, undefined],
    );
  });
});
