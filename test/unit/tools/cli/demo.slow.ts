/** `kubeloom demo` as a process, short: its JSON, its exit codes, its end by a signal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DemoReport } from '../../../../src/tools/cli/demo/demo-report.ts';
import { CommandRun, runCommand } from './command.ts';

const SHORT = ['demo', '--pods', '1000', '--duration', '3'];

/** The conclusion with no other reason. */
const SLOW = /INVALID:\n +only [\d,]+ changes were sent, at least [\d,]+ are needed\n(?! )/;

/** A machine that is too slow for the rate makes the run INVALID, and its deliveries no less right. */
function assertValidOrSlow({ exitCode, stdout, stderr }: Awaited<ReturnType<typeof runCommand>>): void {
  const isSlow = exitCode === 2 && SLOW.test(`${stdout}\n${stderr}`);
  assert.ok(exitCode === 0 || isSlow, `${stdout}\n${stderr}`);
}

describe('kubeloom demo', () => {
  for (const variant of [[], ['--threads', '0'], ['--threads', '2', '--codec', 'msgpack']]) {
    it(`delivers everything once and in order with ${variant.join(' ') || 'its defaults'}`, async () => {
      const run = await runCommand([...SHORT, '--rate', '400', '--json', ...variant]);
      assertValidOrSlow(run);
      assert.match(run.stdout, /^\{[^\n]*\}\n$/);
      const report = JSON.parse(run.stdout) as DemoReport;
      const members =
        'pods eventsSent eventsDelivered lost duplicated reordered storeEqualsServer eventsPerSecond syncMs ' +
        'eventLoopDelayMs rssBytes threads';
      assert.equal(Object.keys(report).join(' '), members);
      assert.equal(report.pods, 1000);
      assert.ok(report.eventsSent > 0);
      assert.equal(report.eventsDelivered, report.eventsSent);
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
    const run = await runCommand([...SHORT, '--rate', '400']);
    assertValidOrSlow(run);
    const { exitCode, stdout, stderr } = run;
    assert.match(stdout, /HANDLER +INITIAL +CHANGES/);
    assert.match(stdout, /prompt +1,000 +[\d,]+ +0 +0 +0/);
    assert.match(stdout, /slow +1,000 +[\d,]+ +0 +0 +0/);
    if (exitCode === 0) assert.match(stdout, /\nPASS: /);
    assert.match(stderr, /synced 1,000 pods/);
  });

  it('reports INVALID, with exit code 2, when the load could not be sent', async () => {
    // No machine writes a million a second from one core.
    const run = await runCommand('demo --pods 100 --duration 0.3 --rate 1000000 --json'.split(' '));
    assert.equal(run.exitCode, 2, run.stderr);
    assert.match(run.stderr, /INVALID:\n.*changes were sent/);
    assert.match(run.stdout, /^\{[^\n]*\}\n$/);
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
