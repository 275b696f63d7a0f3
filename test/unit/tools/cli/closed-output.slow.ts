/** Commands whose output has no reader any more, as in `kubeloom demo --help | head -1`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WorkQueue } from '../../../../src/workqueue/index.ts';
import { serveStats } from '../../../../src/metrics/index.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { CommandRun } from './command.ts';

/** Runs a command whose output is closed before it prints. */
async function runUnread(args: readonly string[]): Promise<void> {
  await using run = new CommandRun(args);
  run.closeStdout();
  assert.equal(await run.exitCode, 0, args.join(' '));
  assert.equal(run.stderr, '', args.join(' '));
}

describe('a command ends quietly when its output is closed', () => {
  it('before its help', async () => {
    for (const command of [[], ['demo'], ['watch'], ['top'], ['apiserver'], ['loadtest']])
      await runUnread([...command, '--help']);
    await runUnread(['--version']);
  });

  it('before a server says where it listens', async () => {
    await using folder = new TemporaryFolder();
    await runUnread(['apiserver', '--kubeconfig-out', folder.file('kubeconfig')]);
  });

  it('between the lines of a view', async () => {
    await using folder = new TemporaryFolder();
    const queue = new WorkQueue<string>({ name: 'keys' });
    await using server = await serveStats({ socketPath: folder.file('stats.sock') });
    for (const flags of [[], ['--json']]) {
      await using run = new CommandRun(['top', '--socket', server.address, ...flags]);
      await run.until('stdout', /\n/);
      run.closeStdout();
      assert.equal(await run.exitCode, 0);
      assert.equal(run.stderr, '');
    }
    queue.shutDown();
  });
});
