/** The answers, and the missing answers, of a program to which `kubeloom top` attaches. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createRawServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { readStats } from '../../../../src/tools/cli/top/top-source.ts';
import type { StatsAddress } from '../../../../src/tools/cli/top/top-source.ts';
import { prometheusText, serveHealth, serveStats } from '../../../../src/metrics/index.ts';
import type { MetricFamily } from '../../../../src/metrics/index.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';

const NEVER = new AbortController().signal;

/** Checks the message of the failed read. */
async function refused(address: StatsAddress, message: RegExp, deadlineMs?: number): Promise<void> {
  await assert.rejects(readStats(address, NEVER, deadlineMs), { code: 'ERR_KUBELOOM_UNREACHABLE', message });
}

async function withServer(listener: RequestListener, use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
}

describe('the figures of a program', () => {
  test('are read from a port and from a socket', async () => {
    await using folder = new TemporaryFolder();
    const socketPath = folder.file('stats.sock');
    await using onSocket = await serveStats({ socketPath });
    await using onPort = await serveStats({ port: 0 });
    const port = Number(new URL(onPort.address).port);
    for (const address of [{ socketPath: onSocket.address }, { port }])
      assert.ok((await readStats(address, NEVER)).atMs > 0);
  });

  test('are read from the metrics of a health port, with histograms and labels of any text', async () => {
    const families = [
      {
        name: 'kubeloom_objects',
        type: 'gauge',
        help: '',
        labels: [],
        samples: [{ labels: { name: 'a "b"\\\n, c="d"' }, value: Infinity }],
      },
      {
        name: 'kubeloom_handler_duration_seconds',
        type: 'histogram',
        help: '',
        labels: [],
        samples: [{ labels: { name: 'a' }, value: { bounds: [0.1, 1], counts: [2, 0, 3], sum: 7.5 } }],
      },
    ] as unknown as readonly MetricFamily[];
    const metrics = (): string => `own 1\n${prometheusText(families)}`;
    await using server = await serveHealth({ port: 0, metrics });
    const read = await readStats({ port: Number(new URL(server.address).port) }, NEVER);
    assert.deepEqual(read.families, families);
    await using other = await serveHealth({ port: 0, metrics: () => '# TYPE own gauge\nown 1\n' });
    await refused({ port: Number(new URL(other.address).port) }, /another program answers there/);
  });

  test('are missing when nothing listens', async () => {
    const server = await serveStats({ port: 0 });
    const port = Number(new URL(server.address).port);
    await server.close();
    await refused(
      { port },
      new RegExp(
        `^no figures from port ${port}: nothing listens there: .* serveStats\\(\\{ port: ${port} \\}\\)$`,
      ),
    );
  });

  test('are missing when the socket is missing, is a file, or was left by a program that ended', async () => {
    await using folder = new TemporaryFolder();
    await refused({ socketPath: folder.file('none') }, /there is no such socket: start the program/);
    await refused({ socketPath: folder.write('file', '') }, /nothing listens there|not a socket/);
  });

  test(
    'are missing when another user owns the socket',
    { skip: process.getuid?.() === 0 && 'root opens every socket' },
    async () => {
      await using folder = new TemporaryFolder();
      const socketPath = folder.file('stats.sock');
      await using server = await serveStats({ socketPath });
      chmodSync(server.address, 0);
      await refused({ socketPath }, /this user may not open the socket: run as the user of the program/);
    },
  );

  test('are missing when the server is not one of kubeloom', async () => {
    const answers = ['<html>', '{}', 'null', '[]', '{"atMs":1,"families":{},"errors":[]}'];
    const wrong = (family: unknown): string => JSON.stringify({ atMs: 1, errors: [], families: [family] });
    answers.push(
      wrong(null),
      wrong({ name: 'a', samples: [null] }),
      wrong({ name: 'a', samples: [{ labels: { name: 1 }, value: 1 }] }),
      wrong({ name: 'a', samples: [{ labels: {}, value: 'x' }] }),
      wrong({ name: 'a', samples: [{ labels: {}, value: { bounds: [], counts: 1 } }] }),
      JSON.stringify({ atMs: 1e300, errors: [], families: [] }),
      JSON.stringify({ atMs: 1, errors: [{ atMs: 1, informer: 'a', code: 'B' }], families: [] }),
    );
    for (const body of answers)
      await withServer(
        (_, response) => response.end(body),
        (port) =>
          refused({ port }, /another program answers there: it must call serveStats\(.*\) of kubeloom$/),
      );
    const notFound: RequestListener = (_, response) =>
      response.writeHead(404).end('{"atMs":1,"families":[],"errors":[]}');
    await withServer(notFound, (port) => refused({ port }, /another program answers there/));
  });

  test('are missing when the server does not speak HTTP', async () => {
    const server = createRawServer((socket) => socket.resume().end('SSH-2.0-OpenSSH\r\n')).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    await refused({ port: (server.address() as AddressInfo).port }, /another program answers there/);
    server.close();
    await once(server, 'close');
  });

  test('are missing when the program does not answer, or ends while it answers', async () => {
    await withServer(
      () => undefined,
      (port) => refused({ port }, /no answer within .*: the program may be blocked/, 1),
    );
    await withServer(
      (_, response) => response.socket?.destroy(),
      (port) => refused({ port }, /the program has ended the connection/),
    );
  });
});
