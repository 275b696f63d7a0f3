/** The high-rate source in protobuf: the frames of a watch, with another program in the place of client-go. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { SourceServer } from '../../../bench/source/server.ts';

const PODS = 3;
const OBJECT_BYTES = 1024;
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Answers each object with a Pod that has nothing but name and resourceVersion. */
const PROGRAM = `#!${process.execPath}
const input = require('node:fs').readFileSync(0);
const field = (number, bytes) => Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
for (let at = 0; at < input.length; at += ${OBJECT_BYTES}) {
  const { name, resourceVersion } = JSON.parse(input.subarray(at, at + ${OBJECT_BYTES})).metadata;
  const pod = field(1, Buffer.concat([field(1, Buffer.from(name)), field(6, Buffer.from(resourceVersion))]));
  process.stdout.write(Buffer.concat([Buffer.from([0, 0, 0, pod.length]), pod]));
}
`;

/** The fields of a message, all of which must be bytes. */
function fields(message: Buffer): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = 0; at < message.length;) {
    const tag = message[at++] ?? 0;
    assert.equal(tag & 7, 2);
    let length = 0;
    for (let shift = 0, byte = 0x80; byte >= 0x80; shift += 7) {
      byte = message[at++] ?? 0;
      length |= (byte & 0x7f) << shift;
    }
    found.set(tag >> 3, message.subarray(at, at + length));
    at += length;
  }
  return found;
}

function child(message: Buffer | undefined, number: number): Buffer {
  return fields(message ?? Buffer.alloc(0)).get(number) ?? Buffer.alloc(0);
}

interface Frame {
  readonly type: string;
  readonly name: string;
  readonly resourceVersion: number;
  readonly annotations: string;
}

function frameOf(event: Buffer): Frame {
  const object = child(child(event, 2), 1);
  assert.equal(object.subarray(0, 4).toString(), 'k8s\0');
  const unknown = object.subarray(4);
  assert.equal(child(child(unknown, 1), 1).toString(), 'v1');
  assert.equal(child(child(unknown, 1), 2).toString(), 'Pod');
  const metadata = child(child(unknown, 2), 1);
  return {
    type: child(event, 1).toString(),
    name: child(metadata, 1).toString(),
    resourceVersion: Number(child(metadata, 6).toString()),
    annotations: child(metadata, 12).toString(),
  };
}

async function framesOf(response: IncomingMessage, count: number): Promise<Frame[]> {
  const frames: Frame[] = [];
  let rest = Buffer.alloc(0);
  for await (const chunk of response as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
      const end = 4 + rest.readUInt32BE();
      frames.push(frameOf(rest.subarray(4, end)));
      rest = rest.subarray(end);
    }
    if (frames.length >= count) break;
  }
  return frames;
}

async function watched({ url }: SourceServer, query: string, accept: string): Promise<IncomingMessage> {
  const request = get(`${url}/api/v1/pods?watch=1&${query}`, { headers: { accept } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

function program(context: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'kubeloom-bench-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'frames.cjs');
  writeFileSync(file, PROGRAM, { mode: 0o755 });
  return file;
}

describe('the high-rate source in protobuf', () => {
  it('sends the initial events, their bookmark and every change to a client that accepts it', async (context) => {
    for (const chunkPerEvent of [false, true]) {
      const options = { pods: PODS, objectBytes: OBJECT_BYTES, events: 2 * PODS, chunkPerEvent };
      await using source = new SourceServer({ ...options, protobufProgram: program(context) });
      await source.listen();
      const query = 'sendInitialEvents=true&allowWatchBookmarks=true';
      const response = await watched(source, query, `${PROTOBUF},application/json`);
      assert.equal(response.headers['content-type'], `${PROTOBUF};stream=watch`);
      const frames = await framesOf(response, PODS + 1 + 2 * PODS);
      const types = frames.map(({ type }) => type);
      const modified = Array.from({ length: 2 * PODS }, () => 'MODIFIED');
      assert.deepEqual(types, ['ADDED', 'ADDED', 'ADDED', 'BOOKMARK', ...modified]);
      const [bookmark, ...changes] = frames.slice(PODS);
      assert.match(bookmark?.annotations ?? '', /k8s\.io\/initial-events-end.*true/s);
      assert.equal(bookmark?.resourceVersion, source.listRevision);
      assert.deepEqual(
        changes.map(({ resourceVersion }) => resourceVersion - source.listRevision),
        [1, 2, 3, 4, 5, 6],
      );
      const names = (some: readonly Frame[]): string[] => some.map(({ name }) => name).toSorted();
      assert.deepEqual(names(changes.slice(0, PODS)), names(frames.slice(0, PODS)));
    }
  });

  it('sends JSON to other clients, and to all when it has no program', async (context) => {
    for (const [accept, protobufProgram] of [
      ['application/json', program(context)],
      [PROTOBUF, ''],
    ] as const) {
      const options = { pods: PODS, objectBytes: OBJECT_BYTES, events: 0, protobufProgram };
      await using source = new SourceServer(options);
      await source.listen();
      const response = await watched(source, 'resourceVersion=0', accept);
      assert.equal(response.headers['content-type'], 'application/json');
      response.destroy();
    }
  });

  it('does not start when the program does not answer for every object', (context) => {
    const options = { pods: PODS, objectBytes: 2 * OBJECT_BYTES, events: 0 };
    assert.throws(() => new SourceServer({ ...options, protobufProgram: program(context) }), /frames\.cjs/);
  });
});
