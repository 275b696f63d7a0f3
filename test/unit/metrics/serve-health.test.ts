/** The server of a pod: its paths and checks, its certificate, what its answers withhold, and its end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as requestSecure } from 'node:https';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';

import { serveHealth } from '../../../src/metrics/index.ts';
import { createCertificates } from '../../../src/tools/apiserver/wire/certificates.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import { RecordingLogger } from '../../kit/recording-logger.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { processWarnings } from '../../kit/warnings.ts';

interface Asked {
  readonly status: number;
  readonly body: string;
}

async function ask(address: string, path: string, method = 'GET', ca?: string): Promise<Asked> {
  const { hostname: host, port } = new URL(address);
  const options = { host, port, path, method, agent: false } as const;
  const sent = ca === undefined ? requestPlain(options) : requestSecure({ ...options, ca });
  const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

class Informer {
  readonly name: string;
  isSynced = false;
  isEnded = false;
  readonly hasSynced = (): boolean => this.isSynced;
  readonly isStopped = (): boolean => this.isEnded;

  constructor(name: string) {
    this.name = name;
  }
}

describe('serveHealth', () => {
  test('is ready when all informers have synced, and unhealthy when one of them has ended', async () => {
    const pods = new Informer('pods (all namespaces)');
    const informers: Informer[] = [];
    const log = new RecordingLogger();
    await using server = await serveHealth({ port: 0, informers: { informers }, log });
    assert.match(server.address, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.deepEqual(await ask(server.address, '/healthz'), { status: 200, body: 'ok' });
    assert.equal((await ask(server.address, '/readyz')).status, 503);
    informers.push(pods);
    const notReady = '[+]ping ok\n[-]caches failed: reason withheld\nreadyz check failed\n';
    assert.deepEqual(await ask(server.address, '/readyz'), { status: 503, body: notReady });
    pods.isSynced = true;
    assert.deepEqual(await ask(server.address, '/readyz'), { status: 200, body: 'ok' });
    informers.push(new Informer('nodes'));
    assert.equal((await ask(server.address, '/readyz')).status, 503);
    pods.isEnded = true;
    const ended = { status: 503, body: '[-]informers failed: reason withheld\n' };
    assert.deepEqual(await ask(server.address, '/healthz/informers'), ended);
    assert.deepEqual(log.lines, [
      'info readyz check caches fails: there are no informers yet',
      'info readyz check caches fails: not synced: pods (all namespaces)',
      'info readyz check caches passes',
      'info readyz check caches fails: not synced: nodes',
      'info healthz check informers fails: ended: pods (all namespaces)',
    ]);
  });

  test('answers ?verbose, ?exclude and the path of a check as Kubernetes does', async () => {
    await using server = await serveHealth({
      port: 0,
      leaderElector: { isHealthy: () => true },
      readyz: { database: () => false, queue: () => undefined },
    });
    const ask1 = (path: string): Promise<Asked> => ask(server.address, path);
    const verbose = '[+]ping ok\n[+]leader-election ok\n[+]queue ok\n';
    assert.deepEqual(await ask1('/healthz?verbose'), {
      status: 200,
      body: '[+]ping ok\n[+]leader-election ok\nhealthz check passed\n',
    });
    assert.equal((await ask1('/readyz')).status, 503);
    assert.deepEqual(await ask1('/readyz?verbose&exclude=database&exclude=absent'), {
      status: 200,
      body: `${verbose}warn: no check to exclude is named "absent"\nreadyz check passed\n`,
    });
    assert.deepEqual(await ask1('/readyz/queue'), { status: 200, body: 'ok' });
    const failed = { status: 503, body: '[-]database failed: reason withheld\n' };
    assert.deepEqual(await ask1('/readyz/database'), failed);
    const { body } = await ask1('/readyz/absent');
    assert.match(body, /readyz\?verbose has ping, leader-election, database, queue/);
    const statuses = ['/readyz/absent', '/readyz/a/b', '/', '//', '/stats.json'];
    for (const path of statuses) assert.equal((await ask1(path)).status, 404, path);
  });

  test('hides the error of a check, which is reported once, until it changes', async (context) => {
    const warned = processWarnings(context);
    let failure: unknown = new Error('password hunter2 was refused\nfor the user');
    await using server = await serveHealth({
      port: 0,
      healthz: {
        database: () => {
          if (failure !== undefined) throw failure;
        },
        other: () => Promise.reject(new Error('token s3cr3t')),
      },
    });
    for (const path of ['/healthz', '/healthz?verbose', '/healthz/database', '/healthz/other']) {
      const { status, body } = await ask(server.address, path);
      assert.equal(status, 503);
      assert.doesNotMatch(body, /hunter2|s3cr3t/);
    }
    failure = undefined;
    assert.equal((await ask(server.address, '/healthz/database')).status, 200);
    const code = 'ERR_KUBELOOM_HEALTH_CHECK';
    assert.deepEqual(
      warned.map((warning) => [warning.code, warning.message]),
      [
        [code, 'healthz check database fails: password hunter2 was refused'],
        [code, 'healthz check other fails: token s3cr3t'],
      ],
    );
  });

  test('ends a check after its time, and calls a check that hangs only once', async () => {
    const clock = new FakeClock();
    const log = new RecordingLogger();
    const signals: AbortSignal[] = [];
    let end = (): void => undefined;
    const hung = (signal: AbortSignal): Promise<void> => {
      signals.push(signal);
      return new Promise((resolve) => (end = resolve));
    };
    const options = { port: 0, readyz: { hung }, checkTimeoutMs: 500, clock, log };
    await using server = await serveHealth(options);
    const both = [ask(server.address, '/readyz'), ask(server.address, '/readyz/hung')];
    while (signals.length === 0) await new Promise(setImmediate);
    clock.advance(499);
    assert.equal(signals[0]?.aborted, false);
    clock.advance(1);
    for (const { status } of await Promise.all(both)) assert.equal(status, 503);
    assert.equal(signals[0]?.aborted, true);
    assert.equal((await ask(server.address, '/readyz/hung')).status, 503);
    assert.equal(signals.length, 1);
    end();
    await new Promise(setImmediate);
    const again = ask(server.address, '/readyz/hung');
    while (signals.length === 1) await new Promise(setImmediate);
    end();
    assert.equal((await again).status, 200);
    assert.deepEqual(log.lines, [
      'warn readyz check hung fails: it has not ended within 500 ms (checkTimeoutMs)',
      'info readyz check hung passes',
    ]);
  });

  test('serves the metrics of kubeloom, or the text of the program, whose fault is reported', async () => {
    const log = new RecordingLogger();
    let metrics = (): string => 'mine 1\n';
    await using own = await serveHealth({ port: 0, metrics: () => metrics(), log });
    await using server = await serveHealth({ port: 0 });
    assert.deepEqual(await ask(server.address, '/metrics'), { status: 200, body: '' });
    assert.deepEqual(await ask(own.address, '/metrics'), { status: 200, body: 'mine 1\n' });
    assert.deepEqual(await ask(own.address, '/metrics', 'HEAD'), { status: 200, body: '' });
    assert.equal((await ask(own.address, '/metrics', 'POST')).status, 405);
    metrics = () => {
      throw new Error('hunter2');
    };
    const { status, body } = await ask(own.address, '/metrics');
    assert.equal(status, 500);
    assert.doesNotMatch(body, /hunter2/);
    assert.deepEqual(log.lines, ['warn metrics threw: hunter2']);
  });

  test('C480 answers 500 in place of metrics that are no text, and reports it', async () => {
    const log = new RecordingLogger();
    let metrics: unknown = undefined;
    await using server = await serveHealth({ port: 0, metrics: () => metrics as string, log });
    for (metrics of [undefined, null, 5, {}, Buffer.from('a 1')])
      assert.equal((await ask(server.address, '/metrics')).status, 500);
    assert.equal(log.lines[0], 'warn metrics threw: the result of metrics must be text, got undefined');
    assert.equal(log.lines.length, 5);
  });

  test('C480 answers whatever a check throws, and with a logger that throws', async (context) => {
    const warned = processWarnings(context);
    const broken = (): never => {
      throw new Error('disk full');
    };
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    const thrown: readonly unknown[] = [revoked, Symbol('x'), Object.create(null), undefined, 5n];
    const healthz = Object.fromEntries(
      thrown.map((value, index) => [`check${index}`, () => Promise.reject(value)]),
    );
    let isGood = false;
    const options = { port: 0, healthz, readyz: { mine: () => isGood } };
    await using silent = await serveHealth(options);
    await using server = await serveHealth({
      ...options,
      log: { debug: broken, info: broken, warn: broken, error: broken },
    });
    for (const { address } of [silent, server]) {
      const { status, body } = await ask(address, '/healthz');
      assert.deepEqual([status, body.match(/failed: reason withheld/g)?.length], [503, thrown.length]);
    }
    assert.equal((await ask(server.address, '/readyz')).status, 503);
    isGood = true;
    assert.equal((await ask(server.address, '/readyz')).status, 200);
    assert.ok(warned.some(({ message }) => message === 'log threw: disk full'));
  });

  test('serves HTTPS with files that it reads again, and keeps the last pair that fits', async () => {
    const clock = new FakeClock();
    const log = new RecordingLogger();
    const [one, two] = [createCertificates('127.0.0.1'), createCertificates('127.0.0.1')];
    await using folder = new TemporaryFolder();
    const write = (name: string, content: string): string => {
      folder.write('next', content);
      renameSync(folder.file('next'), folder.file(name));
      return folder.file(name);
    };
    const tls = { certFile: write('tls.crt', one.certificate), keyFile: write('tls.key', one.privateKey) };
    await using server = await serveHealth({ port: 0, host: '127.0.0.1', tls, clock, log });
    assert.match(server.address, /^https:\/\/127\.0\.0\.1:\d+$/);
    const isServedWith = async ({ ca }: { readonly ca: string }): Promise<boolean> => {
      try {
        return (await ask(server.address, '/healthz', 'GET', ca)).status === 200;
      } catch {
        return false;
      }
    };
    assert.equal(await isServedWith(one), true);
    write('tls.crt', two.certificate);
    clock.advance(10_000);
    while (log.lines.length === 0) await isServedWith(one);
    assert.match(log.lines[0] ?? '', /^warn tls: .* not a certificate with its key: .*previous certificate/);
    assert.equal(await isServedWith(one), true);
    write('tls.key', two.privateKey);
    clock.advance(10_000);
    while (!(await isServedWith(two)));
    assert.equal(await isServedWith(one), false);
    assert.equal(log.lines.length, 1);
  });

  test('closes at once, with a connection that never sends a request and a check that hangs', async () => {
    const tls = createCertificates('127.0.0.1');
    await using folder = new TemporaryFolder();
    const certFile = folder.write('crt', tls.certificate);
    const keyFile = folder.write('key', tls.privateKey);
    const signals: AbortSignal[] = [];
    const hung = (signal: AbortSignal): Promise<unknown> => new Promise(() => signals.push(signal));
    for (const secure of [{}, { tls: { certFile, keyFile } }]) {
      const server = await serveHealth({ port: 0, readyz: { hung }, ...secure });
      const idle = connect(Number(new URL(server.address).port), '127.0.0.1');
      idle.on('error', () => undefined);
      await once(idle, 'connect');
      const asked = ask(server.address, '/readyz', 'GET', 'tls' in secure ? tls.ca : undefined).catch(
        ({ code }) => code,
      );
      const count = signals.length;
      while (signals.length === count) await new Promise(setImmediate);
      await Promise.all([server.close(), server.close(), once(idle, 'close')]);
      assert.equal(await asked, 'ECONNRESET');
      assert.equal(signals.at(-1)?.aborted, true);
    }
  });

  test('refuses wrong options and files, and rejects when the port is in use', async () => {
    await using folder = new TemporaryFolder();
    const good = createCertificates('127.0.0.1');
    const certFile = folder.write('crt', good.certificate);
    const garbage = folder.write('key', 'no key');
    const wrong: readonly [unknown, RegExp][] = [
      [{}, /^port must be given/],
      [{ port: 70_000 }, /^port must be an integer/],
      [{ port: 0, hots: '::' }, /did you mean host/],
      [{ port: 0, tls: { certFile } }, /^tls\.keyFile must be given/],
      [
        { port: 0, tls: { certFile, keyFile: folder.file('absent') } },
        /^tls\.keyFile cannot be read: ENOENT/,
      ],
      [{ port: 0, tls: { certFile, keyFile: folder.path } }, /^tls\.keyFile: .* not a regular file/],
      [{ port: 0, tls: { certFile, keyFile: garbage } }, /^tls: .* are not a certificate with its key/],
      [{ port: 0, informers: {} }, /^informers must be informers/],
      [{ port: 0, leaderElector: {} }, /^leaderElector must be a leader elector/],
      [{ port: 0, readyz: { a: true } }, /^readyz\.a must be a function/],
      [{ port: 0, readyz: { 'a/b': () => true } }, /^name of a check of readyz must be/],
      [{ port: 0, healthz: { ping: () => true } }, /must be none of ping/],
      [{ port: 0, log: { info: () => undefined } }, /^log must be a logger/],
    ];
    for (const [options, message] of wrong)
      await assert.rejects(serveHealth(options as never), { code: 'ERR_KUBELOOM_OPTION', message });
    await using server = await serveHealth({ port: 0 });
    await assert.rejects(serveHealth({ port: Number(new URL(server.address).port) }), { code: 'EADDRINUSE' });
  });
});
