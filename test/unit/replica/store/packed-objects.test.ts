/** Objects that have not changed for a while take less memory, and read as before. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { samplePod } from '../../../../src/tools/apiserver/load/sample-pod.ts';
import { DICTIONARY_HELD_BYTES, Dictionary, pack } from '../../../../src/shared/pack/pack.ts';
import type { Viewed } from '../../../../src/shared/pack/pack.ts';
import { copyToPack } from '../../../../src/shared/pack/sampler.ts';
import { MsgpackDecoder } from '../../../../src/shared/record/msgpack.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import { EntryFlag } from '../../../../src/replica/store/entry.ts';
import type { Entry, ObjectBytes } from '../../../../src/replica/store/entry.ts';
import { seededRandom } from '../../shared/ring/random.ts';
import { Packr } from 'msgpackr';
import {
  borrowed,
  compactAll,
  isPacked,
  newEntry,
  newOwner,
  packRounds,
  tableOf,
  wireObject,
} from './objects.ts';
import type { ObjectSpec } from './objects.ts';

const PACK_ALL = { totalBytesMin: 0, wastedBytesMin: 0 };
const PODS = 100;
const POD_BYTES = 5120;

function packingOwner(options: Parameters<typeof newOwner>[0] = {}): EntryOwner {
  return newOwner({ packing: PACK_ALL, retainChecks: 'off', ...options });
}

/** Returns an owner whose pods are all packed. */
function packedPods(options?: Parameters<typeof newOwner>[0]): { owner: EntryOwner; entries: Entry[] } {
  const owner = packingOwner(options);
  const entries = pods(owner);
  packRounds(owner, 2);
  return { owner, entries };
}

function specOf(index: number, version: number = 1): ObjectSpec {
  return { name: `pod-${index}`, version };
}

function podBytes(index: number, version: number = 1): Buffer {
  const pod = samplePod({ index, namespace: 'default', bytes: POD_BYTES });
  const { metadata } = wireObject(specOf(index, version));
  const { namespace: _, labels: __, ...rest } = pod.metadata;
  return Buffer.from(JSON.stringify({ ...pod, metadata: { ...rest, ...metadata } }));
}

function held(owner: EntryOwner, spec: ObjectSpec, bytes?: Buffer): Entry {
  const entry = newEntry(owner, spec, bytes ? { bytes } : {});
  entry.addReference();
  return entry;
}

function pods(owner: EntryOwner, version: number = 1): Entry[] {
  return Array.from({ length: PODS }, (_, index) =>
    held(owner, specOf(index, version), podBytes(index, version)),
  );
}

/** Returns the state after `before`, as the merge makes it. */
function changed(owner: EntryOwner, before: Entry, bytes: Buffer): Entry {
  const entry = held(owner, { ...specOf(0), name: before.name, version: Number(before.version) + 1 }, bytes);
  owner.table.setDictionary(entry.row, dictionaryOf(before));
  before.dropReference();
  return entry;
}

/** Runs a whole round and returns its result. */
function round(owner: EntryOwner): boolean {
  const steps = owner.packed.round();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function dictionaryOf(entry: Entry): number {
  return tableOf(entry).dictionaryOf(entry.row);
}

function randomText(seed: number, length: number): string {
  const random = seededRandom(seed);
  let text = '';
  while (text.length < length) text += random().toString(36).slice(2);
  return text.slice(0, length);
}

describe('objects that do not change', () => {
  it('a round says whether the next one has something to do, so that none runs when nothing changes', () => {
    const owner = packingOwner();
    assert.equal(round(owner), false, 'there is nothing');
    pods(owner);
    assert.deepEqual([round(owner), round(owner), round(owner)], [true, true, false]);
    held(owner, specOf(PODS), podBytes(PODS));
    assert.deepEqual([round(owner), round(owner), round(owner)], [true, true, false]);
  });

  it('are packed by the second round that finds them, to less than an eighth', () => {
    const owner = packingOwner();
    const entries = pods(owner);
    packRounds(owner);
    assert.ok(!entries.some(isPacked));
    packRounds(owner);
    assert.ok(entries.every(isPacked));
    assert.equal(owner.slabs.heldBytes, 0);
    assert.ok(owner.packed.slabs.liveBytes < (PODS * POD_BYTES) / 8, `${owner.packed.slabs.liveBytes}`);
  });

  it('read as before, whole, in parts and as bytes', () => {
    const owner = packingOwner();
    const entries = pods(owner);
    const before = entries.map((entry) => ({ object: entry.copy(), bytes: entry.bytes() }));
    packRounds(owner, 2);
    for (const [index, entry] of entries.entries()) {
      const { object, bytes } = before[index] ?? {};
      const { managedFields: _dropped, ...metadata } = (object as { metadata: Record<string, unknown> })
        .metadata;
      assert.ok(isPacked(entry));
      assert.deepEqual(entry.metadata, metadata);
      assert.deepEqual(entry.object, object);
      assert.deepEqual(entry.copy(), object);
      assert.deepEqual(entry.bytes(), bytes);
      assert.equal(entry.length, bytes?.length);
      assert.deepEqual(JSON.parse(JSON.stringify(entry)), object);
    }
  });

  it('read as before when they are msgpack', () => {
    const owner = packingOwner();
    const structures: string[][] = [];
    const packr = new Packr({ useRecords: true, structures });
    const decoder = new MsgpackDecoder();
    const entries = Array.from({ length: PODS }, (_, index) => {
      const bytes = packr.pack(JSON.parse(podBytes(index).toString('utf8')));
      const entry = newEntry(owner, specOf(index), { bytes, decoder });
      entry.addReference();
      return entry;
    });
    decoder.update(Buffer.from(JSON.stringify({ first: 0, structures })));
    packRounds(owner, 2);
    for (const [index, entry] of entries.entries()) {
      assert.ok(isPacked(entry));
      assert.deepEqual(entry.object, JSON.parse(podBytes(index).toString('utf8')));
    }
  });

  it('stay readable when they were retained and have left the cache', () => {
    const { owner, entries } = packedPods();
    for (const entry of entries) entry.retain();
    for (const entry of entries) entry.dropReference();
    assert.equal(owner.packed.slabs.heldBytes, 0);
    for (const [index, entry] of entries.entries()) assert.deepEqual(entry.bytes(), podBytes(index));
  });

  it('are refused as before to a late read', () => {
    for (const retainChecks of ['strict', 'off'] as const) {
      const { entries } = packedPods({ retainChecks });
      for (const [index, entry] of entries.entries()) {
        borrowed(entry, 'a handler', () => assert.deepEqual(entry.bytes(), podBytes(index)));
        entry.dropReference();
        assert.throws(() => entry.object, { code: 'ERR_KUBELOOM_BORROW_EXPIRED' });
      }
    }
  });

  it('keep their errors: malformed objects stay malformed and keep their bytes', () => {
    const owner = packingOwner();
    const broken = podBytes(0).subarray(0, -10);
    const entry = newEntry(owner, specOf(0), { bytes: broken, flags: EntryFlag.Malformed });
    entry.addReference();
    pods(owner);
    packRounds(owner, 2);
    assert.ok(isPacked(entry));
    entry.retain();
    assert.throws(() => entry.object, { code: 'ERR_KUBELOOM_MALFORMED_OBJECT' });
    assert.deepEqual(entry.bytes(), broken);
  });
});

describe('objects that are not packed', () => {
  it('change between two rounds', () => {
    const owner = packingOwner();
    let entries = pods(owner);
    for (let version = 2; version < 6; version++) {
      packRounds(owner);
      entries = entries.map((entry, index) => changed(owner, entry, podBytes(index, version)));
    }
    assert.ok(!entries.some(isPacked));
    assert.equal(owner.packed.heldBytes, 0);
  });

  it('are few: an informer with less than 256 KiB is not packed', () => {
    for (const [count, isLeftAlone] of [
      [50, true],
      [53, false],
    ] as const) {
      const owner = newOwner({ retainChecks: 'off' });
      for (let index = 0; index < count; index++) held(owner, specOf(index), podBytes(index));
      packRounds(owner, 2);
      assert.equal(owner.packed.heldBytes === 0, isLeftAlone, `${count} pods`);
    }
  });

  it('are very short or very long', () => {
    const owner = packingOwner();
    const short = held(owner, specOf(0), Buffer.from('{}'));
    const long = held(owner, specOf(1), Buffer.from(JSON.stringify({ text: 'x'.repeat(70_000) })));
    packRounds(owner, 3);
    assert.ok(!isPacked(short) && !isPacked(long));
  });

  it('resemble no other: after a few of them packing pauses, and hardly any other memory is held', () => {
    const owner = packingOwner();
    const entries = Array.from({ length: 400 }, (_, index) =>
      held(owner, { ...specOf(index), spec: randomText(index, 4000) }),
    );
    const bytes = entries.reduce((sum, { length }) => sum + length, 0);
    packRounds(owner, 20);
    assert.ok(entries.filter(isPacked).length < 40);
    assert.ok(owner.slabs.heldBytes + owner.packed.heldBytes < 1.2 * bytes);
    for (const [index, entry] of entries.entries()) {
      entry.retain();
      assert.deepEqual(entry.object, wireObject({ ...specOf(index), spec: randomText(index, 4000) }));
    }
  });
});

describe('an object that changes', () => {
  it('is packed again against the dictionary of its previous state', () => {
    const owner = packingOwner({ packing: { totalBytesMin: 0 } });
    const before = pods(owner);
    packRounds(owner, 2);
    const dictionaries = before.map(dictionaryOf);
    // Meanwhile objects of another kind came, and are sampled now.
    for (let index = 0; index < 40; index++)
      held(owner, { ...specOf(1000 + index), spec: randomText(index, 3000) });
    packRounds(owner, 2);
    const after = before.map((entry, index) => changed(owner, entry, podBytes(index, 2)));
    packRounds(owner, 40);
    for (const entry of after) assert.ok(isPacked(entry) && dictionaries.includes(dictionaryOf(entry)));
    for (const [index, entry] of after.entries()) assert.deepEqual(entry.bytes(), podBytes(index, 2));
  });

  it('does not keep the samples of its former states: a dictionary that takes more than it saves is dissolved', () => {
    const owner = packingOwner();
    const count = 64;
    const textOf = (index: number, version: number): string => randomText(index * 1000 + version, 4000);
    const bytesOf = (index: number, version: number): Buffer =>
      Buffer.from(JSON.stringify(wireObject({ ...specOf(index, version), spec: textOf(index, version) })));
    let entries = Array.from({ length: count }, (_, index) => held(owner, specOf(index), bytesOf(index, 1)));
    let heldBytesMax = 0;
    for (let version = 2; version < 200; version++) {
      packRounds(owner, 2);
      // One in four stays: it would keep the samples of all others.
      entries = entries.map((entry, index) =>
        (index + version) % 4 === 0 ? entry : changed(owner, entry, bytesOf(index, version)),
      );
      heldBytesMax = Math.max(heldBytesMax, owner.slabs.heldBytes + owner.packed.heldBytes);
    }
    const bytes = entries.reduce((sum, { length }) => sum + length, 0);
    assert.ok(heldBytesMax < 2.5 * bytes, `${heldBytesMax / bytes}`);
    for (const entry of entries) {
      const version = Number(entry.version);
      assert.ok(entry.bytes().length > 4000 && version >= 1);
    }
  });
});

describe('the dictionaries that entries are packed against', () => {
  const FAMILIES = 60;
  const FAMILY_BYTES = 30_000;
  /** With this seed compaction moves entries to a slab that the walk has passed. */
  const SEED = 5;

  /** Returns an object that shares half of its bytes with its family. */
  function member(owner: EntryOwner, family: number, index: number): Entry {
    const own = randomText(1000 + family * 100 + index, FAMILY_BYTES - 3000);
    return held(owner, specOf(family), Buffer.from(randomText(family, FAMILY_BYTES) + own));
  }

  /** Packs two families a dictionary and leaves one entry of most: it saves less than its dictionary takes. */
  function mostlyGone(owner: EntryOwner, seed: number): Entry[] {
    const random = seededRandom(seed);
    const left: Entry[] = [];
    const gone: Entry[] = [];
    for (let family = 0; family < FAMILIES; family += 2) {
      for (const sampled of [family, family + 1]) {
        gone.push(held(owner, specOf(sampled), Buffer.from(randomText(sampled, FAMILY_BYTES))));
      }
      packRounds(owner, 2);
      const isKept = random() < 0.3;
      for (let index = 0; index < 4; index++) {
        (isKept || index === 0 ? left : gone).push(member(owner, family, index));
        (isKept ? left : gone).push(member(owner, family + 1, index));
      }
      packRounds(owner, 2);
    }
    assert.ok([...left, ...gone].every(isPacked));
    for (const entry of gone) entry.dropReference();
    compactAll(owner);
    return left;
  }

  function used(entries: readonly Entry[]): number {
    return new Set(entries.filter(isPacked).map(dictionaryOf)).size;
  }

  it('count as held while entries are packed against them, and are freed within two rounds when they are dissolved', () => {
    const owner = packingOwner();
    const entries = mostlyGone(owner, SEED);
    const dictionaries = [...owner.packed.dictionaries];
    for (let count = 0; count < 6; count++) {
      packRounds(owner);
      const heldBytes = owner.packed.heldBytes - owner.packed.slabs.heldBytes;
      assert.equal(heldBytes, used(entries) * DICTIONARY_HELD_BYTES, `round ${count}`);
      if (count !== 1) continue;
      assert.ok(dictionaries.some(({ isDissolved }) => isDissolved));
      for (const { isDissolved } of owner.packed.dictionaries) assert.ok(!isDissolved);
    }
  });
});

describe('beyond the bound of objects as received', () => {
  const looseBytesMax = 20 * POD_BYTES;
  const bounded = (): EntryOwner => packingOwner({ packing: { ...PACK_ALL, looseBytesMax } });

  function stored(owner: EntryOwner, index: number): Entry {
    const entry = held(owner, specOf(index), podBytes(index));
    if (owner.slabs.liveBytes > owner.packed.looseBytesMax) owner.packed.packAtOnce(entry.row);
    return entry;
  }

  it('a changed object is packed at once, and read as it was received', () => {
    const owner = bounded();
    const entries = Array.from({ length: 60 }, (_, index) => stored(owner, index));
    assert.ok(owner.slabs.liveBytes <= looseBytesMax + POD_BYTES, `${owner.slabs.liveBytes} bytes`);
    assert.ok(entries.slice(0, 19).every((entry) => !isPacked(entry)));
    for (const [index, entry] of entries.entries()) assert.deepEqual(entry.bytes(), podBytes(index));
  });

  it('an object is packed as its previous state was, also while objects that resemble nothing rest', () => {
    const owner = bounded();
    const before = Array.from({ length: 60 }, (_, index) => stored(owner, index)).slice(-30);
    const random = seededRandom(1);
    for (let index = 0; index < 40; index++) {
      const noise = Buffer.from(Array.from({ length: POD_BYTES }, () => Math.floor(random() * 256)));
      owner.packed.packAtOnce(held(owner, { name: `noise-${index}`, version: 1 }, noise).row);
    }
    for (const [index, entry] of before.entries()) {
      const after = changed(owner, entry, podBytes(30 + index, 2));
      owner.packed.packAtOnce(after.row);
      assert.ok(isPacked(after), `${index}`);
    }
  });

  it('dictionaries with further objects are not dropped between two states of their only object', () => {
    const owner = bounded();
    const dropped: unknown[] = [];
    owner.readers = {
      mayMove: () => true,
      moved: () => undefined,
      dropped: (memory) => dropped.push(memory),
    };
    const entries = Array.from({ length: 22 }, (_, index) => stored(owner, index));
    const packedEntries = entries.filter(isPacked);
    for (const dictionary of owner.packed.dictionaries) dictionary.isShared = true;
    for (const entry of packedEntries) entry.dropReference();
    assert.deepEqual([...owner.packed.dictionaries], []);
    assert.deepEqual(dropped, []);
    assert.ok(isPacked(stored(owner, 30)));
  });

  it('an object stays as it is where threads that read it are far behind', () => {
    const owner = bounded();
    owner.readers = { mayMove: () => false, moved: () => undefined, dropped: () => undefined };
    for (let index = 0; index < 30; index++) stored(owner, index);
    const entry = held(owner, specOf(30), podBytes(30));
    owner.table.exportRow(entry.row);
    owner.packed.packAtOnce(entry.row);
    assert.equal(isPacked(entry), false);
  });
});

describe('an item that a shard has packed', () => {
  const NEXT_SAMPLE = 7;

  /** Returns the bytes of a pod, packed as the shard packs it, and the same samples on the main thread. */
  function sent(owner: EntryOwner, shard: number, index: number): ObjectBytes {
    const sample = podBytes(NEXT_SAMPLE);
    owner.packed.addSample(shard, { bytes: sample, start: 0, length: sample.length });
    const samples = new Dictionary(1);
    samples.add(copyOf(sample));
    const target = Buffer.alloc(POD_BYTES);
    return { bytes: target, start: 0, length: pack(samples, copyOf(podBytes(index)), target, POD_BYTES / 2) };
  }

  function copyOf(bytes: Buffer): Viewed {
    const copy = copyToPack(bytes, 0, bytes.length);
    assert.ok(copy);
    return copy;
  }

  /** Returns a row with the length of a pod, and without bytes. */
  function rowOf(owner: EntryOwner, index: number): number {
    const { row } = held(owner, specOf(index), podBytes(index));
    owner.slabs.release(row);
    return row;
  }

  it('is stored as it came, read as it was, and known again from its packed bytes', () => {
    const owner = packingOwner();
    const packed = sent(owner, 0, 1);
    const row = rowOf(owner, 1);
    owner.packed.put(row, owner.packed.samplesOf(0), packed);
    assert.deepEqual(owner.packed.unpacked(row).subarray(0, podBytes(1).length), podBytes(1));
    assert.ok(owner.packed.has(row, owner.packed.samplesOf(0), packed));
    const other = sent(packingOwner(), 0, 2);
    assert.equal(owner.packed.has(row, owner.packed.samplesOf(0), other), false);
  });

  it('is not known from equal bytes against the samples of another shard', () => {
    const owner = packingOwner();
    const packed = sent(owner, 0, 1);
    sent(owner, 1, 1);
    const row = rowOf(owner, 1);
    owner.packed.put(row, owner.packed.samplesOf(0), packed);
    assert.equal(owner.packed.has(row, owner.packed.samplesOf(1), packed), false);
  });

  it('leaves no samples when the shard has ended, or begun others, and nothing is packed against them', () => {
    const owner = packingOwner();
    const dropped: unknown[] = [];
    owner.readers = {
      mayMove: () => true,
      moved: () => undefined,
      dropped: (memory) => dropped.push(memory),
    };
    const share = (): void => void (owner.packed.samplesOf(0).isShared = true);
    for (let sample = 0; sample < 14; sample++) {
      sent(owner, 0, 1);
      if (sample === 0) share();
    }
    assert.equal(dropped.length, 1, 'the fourteenth begins others');
    share();
    owner.packed.forgetShards();
    assert.equal(dropped.length, 2);
  });

  it('needs a sample that the shard has sent since it began', () => {
    const owner = packingOwner();
    sent(owner, 0, 1);
    owner.packed.forgetShards();
    assert.throws(() => owner.packed.samplesOf(0), { code: 'ERR_KUBELOOM_ASSERTION' });
  });
});

it('unpacking damaged bytes is an error, not another object', () => {
  const { owner, entries } = packedPods();
  const [entry] = entries;
  assert.ok(entry);
  const offset = owner.table.offsetOf(entry.row);
  const end = offset + owner.table.storedBytesOf(entry.row);
  owner.packed.slabs.slabOf(entry.row).bytes.fill(0, offset, end);
  assert.throws(() => entry.object, { code: 'ERR_KUBELOOM_ASSERTION' });
});
