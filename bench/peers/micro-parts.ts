/** Parts that need no informer, in the order in which an event passes them. */
import { KeyStates } from '../../src/indexer/key-states.ts';
import { MsgpackEncoder } from '../../src/indexer/msgpack-encoder.ts';
import { ObjectTemplates } from '../source/object-templates.ts';
import { dropPaths } from '../../src/kube/json/drop.ts';
import { KeySpans, scanKey } from '../../src/kube/json/key-spans.ts';
import { pathTrie } from '../../src/kube/json/read.ts';
import { skipValue } from '../../src/kube/json/skip.ts';
import { LogWriter, copyBytes } from '../../src/shared/log/log.ts';
import { BLOCK_BYTES } from '../../src/shared/log/log-layout.ts';
import { ChunkedQueue } from '../../src/replica/deliver/pending.ts';
import { WorkQueue } from '../../src/workqueue/index.ts';
import { RealFIFO } from '../../src/client-go/index.ts';
import { MsgpackDecoder } from '../../src/shared/record/msgpack.ts';
import { RingConsumer, RingMemory, RingProducer, allocateRing } from '../../src/shared/ring/ring.ts';

export interface MicroPart {
  readonly name: string;
  /** Number of operations in a call: a single operation is too short for a clock. */
  readonly operations: number;
  readonly call: () => void | Promise<void>;
}

const BATCH = 100;
const PAYLOAD_BYTES = 64;
const templates = new ObjectTemplates({
  pods: 1000,
  objectBytes: 5120,
  resource: 'pods',
  managedFields: true,
});
const pods = Array.from({ length: BATCH }, (_, index) => templates.make(index));

function part(name: string, call: MicroPart['call']): MicroPart {
  return { name, operations: BATCH, call };
}

function batch(name: string, one: (index: number) => void): MicroPart {
  return {
    name,
    operations: BATCH,
    call: () => {
      for (let index = 0; index < BATCH; index++) one(index);
    },
  };
}

function podAt(index: number): Buffer {
  return pods[index] ?? Buffer.alloc(0);
}

function ring(): MicroPart {
  const buffer = allocateRing(2 ** 20);
  const producer = new RingProducer(new RingMemory(buffer));
  const consumer = new RingConsumer(new RingMemory(buffer));
  return part('ring: 100 records written, published, read, released', () => {
    for (let index = 0; index < BATCH; index++) {
      producer.tryClaim(1, PAYLOAD_BYTES);
      producer.commit(PAYLOAD_BYTES);
    }
    producer.publish();
    while (consumer.peek()) consumer.advance();
    consumer.release();
  });
}

function log(): MicroPart {
  let sequence = 0;
  const writer = new LogWriter(new SharedArrayBuffer(4 * BLOCK_BYTES), { load: () => sequence });
  return batch('log: append of 5 KB', (index) => {
    const pod = podAt(index);
    const offset = writer.reserve(pod.length);
    copyBytes(pod, 0, pod.length, writer.bytes, offset);
    sequence = (sequence + 1) | 0;
    writer.seal(sequence, pod.length);
  });
}

function heads(): MicroPart {
  const states = new KeyStates();
  const keys = new KeySpans();
  const spans = pods.map((pod) => {
    scanKey(pod, 0, pod.length, keys);
    const [versionStart, versionEnd] = [keys.resourceVersionStart - 1, keys.resourceVersionEnd + 1];
    return {
      start: 0,
      end: pod.length,
      versionStart,
      versionEnd,
      headEnd: pod.indexOf('"managedFields":'),
    };
  });
  return batch('shard: head of a 5 KB pod hashed', (index) => {
    const span = spans[index];
    if (span) states.keepHead(index, podAt(index), span, span.headEnd);
  });
}

function scanner(): MicroPart[] {
  const spans = new KeySpans();
  const out = Buffer.allocUnsafe(8192);
  const paths = pathTrie(['metadata.managedFields']);
  return [
    batch('scanner: key of a 5 KB pod', (index) => void scanKey(podAt(index), 0, podAt(index).length, spans)),
    batch('scanner: over a whole 5 KB pod', (index) => void skipValue(podAt(index), 0, podAt(index).length)),
    batch('scanner: managedFields dropped', (index) => {
      dropPaths(podAt(index), 0, podAt(index).length, paths, out, 0);
    }),
  ];
}

function codecs(): MicroPart[] {
  const encoder = new MsgpackEncoder(2 ** 16);
  const decoder = new MsgpackDecoder();
  const texts = pods.map((pod) => pod.toString());
  const objects = texts.map((text) => JSON.parse(text) as object);
  const packed = objects.map((object, index) =>
    Buffer.from(encoder.encode(object, texts[index] ?? '') ?? ''),
  );
  decoder.update(Buffer.from(JSON.stringify(encoder.takeNewStructures())));
  return [
    batch('codec: json, a 5 KB pod parsed', (index) => void JSON.parse(podAt(index).toString('latin1'))),
    batch('codec: msgpack, a pod encoded', (index) => {
      encoder.encode(objects[index] ?? {}, texts[index] ?? '');
    }),
    batch('codec: msgpack, a pod decoded', (index) => {
      const bytes = packed[index] ?? Buffer.alloc(0);
      decoder.decode(bytes, 0, bytes.length);
    }),
  ];
}

function listener(): MicroPart {
  const pending = new ChunkedQueue<object, object>();
  const entry = {};
  return part("listener's ring: 100 pushed and taken", () => {
    for (let index = 0; index < BATCH; index++) pending.push(undefined, entry);
    for (let index = 0; index < BATCH; index++) pending.shift();
  });
}

function queues(): MicroPart[] {
  const named = Array.from({ length: BATCH }, (_, index) => ({ metadata: { name: `web-${index}` } }));
  const fifo = new RealFIFO<(typeof named)[number]>({ atomicEvents: true });
  const work = new WorkQueue<string>();
  const keys = named.map(({ metadata }) => metadata.name);
  return [
    part('RealFIFO: 100 added and popped', async () => {
      for (const object of named) fifo.update(object);
      for (let index = 0; index < BATCH; index++) await fifo.pop(() => undefined);
    }),
    part('WorkQueue: 100 added, taken, done', async () => {
      for (const key of keys) work.add(key);
      for (let index = 0; index < BATCH; index++) {
        const key = await work.get();
        if (key !== undefined) work.done(key);
      }
    }),
  ];
}

export const MICRO_PARTS: readonly MicroPart[] = [
  ring(),
  log(),
  ...scanner(),
  heads(),
  listener(),
  ...queues(),
  ...codecs(),
];
