/** docs/operator.md shows lines of the files that run: each excerpt is a part of the file that it names. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { types } from '../../src/tools/cli/types/types.ts';
import { excerptsOf } from '../unit/docs/documents.ts';
import { FOLDER } from './repository.ts';

const DOCS = dirname(FOLDER);

test('the types of the operator are those that the command writes for its definition', async () => {
  const definitions = [join(FOLDER, 'backup-crd.yaml')];
  const check = join(FOLDER, 'backup-operator/backup.ts');
  assert.equal(await types(definitions, { check }, new AbortController().signal), 0);
});

test('docs/operator.md has excerpts of the controller, the program and the test', async () => {
  const excerpts = excerptsOf(await readFile(join(DOCS, 'operator.md'), 'utf8'));
  const names = excerpts.map(([path]) => path.replace('examples/', ''));
  assert.deepEqual(names, [
    'backup-operator/controller.ts',
    'backup-operator.ts',
    'backup-operator/controller.test.ts',
  ]);
  for (const [path, lines] of excerpts)
    assert.ok((await readFile(join(DOCS, path), 'utf8')).includes(lines), path);
});
