/**
 * The limit: the highest speed that a client in Node can reach. It reads a socket into a reused buffer, decodes chunks
 * and splits lines, and drops them. For latencies it reads the time in each line.
 */
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { SENT_ANNOTATION } from '../task.ts';
import type { Task } from '../task.ts';
import { ChunkedLines } from './chunked-lines.ts';
import { pathOf } from './connection.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { Meter } from './meter.ts';
import { runProgram } from './program.ts';
import type { Result } from './program.ts';

const READ_BYTES = 256 * 1024;
const STAMP = Buffer.from(`"${SENT_ANNOTATION}":"`);
const QUOTE = 0x22;

function open(task: Task, onBytes: (bytes: Buffer) => void): Socket {
  const { hostname, port, protocol } = new URL(task.url);
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const onread = {
    buffer,
    callback: (length: number): boolean => {
      onBytes(buffer.subarray(0, length));
      return true;
    },
  };
  const target = { host: hostname, port: Number(port), onread };
  if (protocol === 'http:') return connectPlain(target);
  // The type of tls.connect lacks `onread`, which it passes on.
  return connectTls({ ...target, ...(task.ca ? { ca: task.ca } : {}) } as ConnectionOptions);
}

function request(socket: Socket, task: Task, query: string): void {
  const token = task.token ? `Authorization: Bearer ${task.token}\r\n` : '';
  socket.write(`GET ${pathOf(task.resource)}${query} HTTP/1.1\r\nHost: source\r\n${token}\r\n`);
}

/** Skips a stamp that two reads share, which is very rare. */
function recordStamps(bytes: Buffer, latency: LatencyHistogram): void {
  for (let at = bytes.indexOf(STAMP); at >= 0; at = bytes.indexOf(STAMP, at + 1)) {
    const start = at + STAMP.length;
    const end = bytes.indexOf(QUOTE, start);
    if (end > 0) latency.record(Number(bytes.toString('latin1', start, end)));
  }
}

/** Receives every event once; the revision before the first event needs no list. */
async function watch(task: Task): Promise<Result> {
  const { warmUpEvents = 0 } = task;
  const meter = new Meter();
  const lines = new ChunkedLines();
  const histogram = task.case === 'latency' ? new LatencyHistogram() : undefined;
  return await new Promise((resolve, reject) => {
    let isRunning = false;
    const socket = open(task, (bytes) => {
      lines.push(bytes);
      if (!isRunning && lines.count > warmUpEvents) {
        isRunning = true;
        meter.start();
      }
      if (isRunning && histogram) recordStamps(bytes, histogram);
      if (lines.count < task.events) return;
      const events = lines.count - warmUpEvents;
      const latency = histogram ? { latency: histogram.latency } : {};
      resolve({ events, checksum: lines.bytes, ...meter.stop(), ...latency });
      socket.destroy();
    });
    socket.on('error', reject);
    request(socket, task, '?watch=1&resourceVersion=1');
  });
}

/** Receives the bytes of the list without parsing the items. */
async function sync(task: Task): Promise<Result> {
  const meter = new Meter();
  const lines = new ChunkedLines();
  const socket = open(task, (bytes) => {
    lines.push(bytes);
    if (lines.isComplete) socket.destroy();
  });
  request(socket, task, '?resourceVersion=0');
  await once(socket, 'close');
  return { events: task.objects, checksum: lines.bytes, ...meter.stop() };
}

// The program is a part of this repository, without a version.
await runProgram('limit', '', (task) => (task.case === 'sync' ? sync(task) : watch(task)));
