/** Files of `--crd` that cannot be read as plain data. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readDefinitions } from '../../../../src/tools/cli/crd-files.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';

it('a definition with endless, unknown or deep content is an error with a code and its place', async () => {
  await using folder = new TemporaryFolder();
  for (const [index, text] of ['a: &a [*a]', 'a: *b', '['.repeat(50_000)].entries()) {
    await assert.rejects(readDefinitions(folder.write(`${index}.yaml`, `${text}\n`)), {
      code: 'ERR_KUBELOOM_USAGE',
      message: /^--crd .*\d\.yaml/,
    });
  }
});
