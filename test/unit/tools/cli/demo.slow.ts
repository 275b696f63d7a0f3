/** `kubeloom demo` as a process, short: its JSON, its exit codes, its end by a signal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DemoReport } from '../../../../src/tools/cli/demo/demo-report.ts';
import { CommandRun, runCommand } from './command.ts';

const SHORT = 'demo --pods 1000 --rate 2000 --duration 0.5'.split(' ');

describe('kubeloom demo', () => {
  for (const variant of [[], ['--threads', '0'], ['--threads', '2', '--codec', 'msgpack']]) {
    it(`delivers everything once and in order with ${variant.join(' ') || 'its defaults'}`, async () => {
      const run = await runCommand([...SHORT, '--json', ...variant]);
      assert.equal(run.exitCode, 0, run.stderr);
      assert.match(run.stdout, /^\{[^\n]*\}\n$/);
      const report = JSON.parse(run.stdout) as DemoReport;
      const members =
        'pods eventsSent eventsDelivered lost duplicated reordered storeEqualsServer eventsPerSecond syncMs ' +
        'eventLoopDelayMs rssBytes threads';
      assert.equal(Object.keys(report).join(' '), members);
      assert.equal(report.pods, 1000);
      assert.deepEqual([report.eventsSent, report.eventsDelivered], [1000, 1000]);
      assert.equal(report.storeEqualsServer, true);
      assert.deepEqual(Object.keys(report.eventLoopDelayMs), ['p99', 'max']);
      const shards = report.threads.filter(({ role }) => role.startsWith('shard'));
      assert.equal(shards.length, variant.includes('2') ? 2 : 1);
      for (const thread of report.threads) {
        assert.deepEqual(Object.keys(thread), ['role', 'deltas', 'cpuMs']);
        assert.ok(thread.deltas > 0, thread.role);
      }
    });
  }

  it('prints tables and a verdict to stdout, and its progress to stderr', async () => {
    const { exitCode, stdout, stderr } = await runCommand(SHORT);
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /HANDLER +INITIAL +CHANGES/);
    assert.match(stdout, /prompt +1,000 +1,000 +0 +0 +0/);
    assert.match(stdout, /slow +1,000 +1,000 +0 +0 +0/);
    assert.match(stdout, /\nPASS: /);
    assert.match(stderr, /synced 1,000 pods/);
  });

  it('sends and checks every change on a machine that is too slow for the rate', async () => {
    // No machine writes a million a second from one core.
    const run = await runCommand('demo --pods 100 --rate 1000000 --duration 0.1 --json'.split(' '));
    assert.equal(run.exitCode, 0, run.stderr);
    const { eventsSent, eventsDelivered } = JSON.parse(run.stdout) as DemoReport;
    assert.deepEqual([eventsSent, eventsDelivered], [100_000, 100_000]);
  });

  it('ends, and its apiserver with it, when it is interrupted', async () => {
    await using run = new CommandRun(['demo', '--pods', '100', '--duration', '600', '--rate', '100']);
    await run.until('stderr', /sent \d/);
    run.kill('SIGINT');
    assert.equal(await run.exitCode, 130);
    assert.match(run.stderr, /interrupted\n$/);
    assert.equal(run.stdout, '');
  });
});
