/** `kubeloom completion`, and what the scripts ask the command for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { execFileSync } from 'node:child_process';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { runCommand } from './command.ts';

describe('kubeloom completion', () => {
  it('completes commands, resources and options', async () => {
    const complete = async (...words: readonly string[]): Promise<string> =>
      (await runCommand(['complete', '--', ...words])).stdout;
    assert.match(await complete('lo'), /^loadtest\t/);
    assert.match(await complete('watch', 'depl'), /^deployments\.apps\tDeployment\n/);
    assert.match(await complete('watch', 'pods', '--watch-'), /^--watch-only\t/);
  });

  it('prints a script that bash reads twice, and that completes without bash-completion', async () => {
    await using folder = new TemporaryFolder();
    const { stdout } = await runCommand(['completion', 'bash']);
    const script = folder.write('script', stdout);
    const command = `kubeloom() { if [ "$1" = complete ]; then printf 'loadtest\\twrite\\n:4\\n'; fi; }`;
    const use =
      'COMP_WORDS=(kubeloom lo); COMP_CWORD=1; __kubeloom_complete 2> errors; echo "${COMPREPLY[@]}"';
    const lines = [`. ${script}`, `. ${script}`, command, use];
    const shown = execFileSync('bash', ['--norc', '-c', lines.join('\n')], {
      encoding: 'utf8',
      cwd: folder.path,
    });
    assert.equal(shown, 'loadtest\n');
  });

  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    it(`prints a script for ${shell}, without variables that a second reading could not set`, async () => {
      const { exitCode, stdout } = await runCommand(['completion', shell]);
      assert.equal(exitCode, 0);
      assert.match(stdout, /kubeloom/);
      assert.doesNotMatch(stdout, /readonly|typeset -r|declare -r|local -r/);
    });
  }
});
