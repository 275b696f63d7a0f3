/** The commands, their help and its examples. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EXAMPLES } from '../../../src/cli/examples.ts';
import { program } from '../../../src/cli/program.ts';

/** The words of a line of a shell, without its quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|\S)+/g)].map(([word]) => word.replaceAll("'", ''));
}

describe('the command line', () => {
  it('has examples for every command', () => {
    const names = program().commands.map((command) => command.name());
    assert.deepEqual(
      names.filter((name) => name !== 'complete').toSorted(),
      Object.keys(EXAMPLES).toSorted(),
    );
  });

  for (const line of Object.values(EXAMPLES).flat()) {
    it(`accepts ${line}`, async () => {
      const command = program();
      let called = 0;
      for (const each of command.commands) each.action(() => void called++);
      const [name, ...words] = wordsOf(line);
      assert.equal(name, 'kubeloom');
      await command.parseAsync(words, { from: 'user' });
      assert.equal(called, 1);
    });
  }
});
