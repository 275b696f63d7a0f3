/**
 * The limit: what no client in Node can be faster than. A socket read into one reused buffer, chunks decoded, lines
 * split, and nothing done with them.
 */
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import type { Task } from '../task.ts';
import { ChunkedLines } from './chunked-lines.ts';
import { pathOf } from './connection.ts';
import { Meter } from './meter.ts';
import { runProgram } from './program.ts';
import type { Result } from './program.ts';

const READ_BYTES = 256 * 1024;

function open(task: Task, onBytes: (bytes: Uint8Array) => void): Socket {
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

/** Every event once; the revision before the first of them needs no list. */
async function watch(task: Task): Promise<Result> {
  const meter = new Meter();
  const lines = new ChunkedLines();
  return await new Promise((resolve, reject) => {
    let isRunning = false;
    const socket = open(task, (bytes) => {
      lines.push(bytes);
      if (!isRunning && lines.count > 0) {
        isRunning = true;
        meter.start();
      }
      if (lines.count < task.events) return;
      resolve({ events: lines.count, checksum: lines.bytes, ...meter.stop() });
      socket.destroy();
    });
    socket.on('error', reject);
    request(socket, task, '?watch=1&resourceVersion=1');
  });
}

/** The list as it comes: its bytes, not its items. */
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

await runProgram('limit', process.version, (task) => (task.case === 'sync' ? sync(task) : watch(task)));
