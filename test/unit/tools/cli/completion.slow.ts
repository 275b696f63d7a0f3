/** `kubeloom completion`, and what the scripts ask the command for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runCommand } from './command.ts';

describe('kubeloom completion', () => {
  it('completes commands, resources and options', async () => {
    const complete = async (...words: readonly string[]): Promise<string> =>
      (await runCommand(['complete', '--', ...words])).stdout;
    assert.match(await complete('lo'), /^loadtest\t/);
    assert.match(await complete('watch', 'depl'), /^deployments\.apps\tDeployment\n/);
    assert.match(await complete('watch', 'pods', '--watch-'), /^--watch-only\t/);
  });

  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    it(`prints a script for ${shell}`, async () => {
      const { exitCode, stdout } = await runCommand(['completion', shell]);
      assert.equal(exitCode, 0);
      assert.match(stdout, /kubeloom/);
    });
  }
});
