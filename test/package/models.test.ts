/** The written types of the built-in kinds: each is the type that is derived from client-node's model. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { BUILT_IN_GROUPS } from '../../src/kube/resources.ts';
import { declarationsOf } from './models.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CHECK = `import type * as clientNode from '@kubernetes/client-node';
import type { Wire } from '../../src/kube/wire-form.ts';
import type { ModelNamed } from './models.d.ts';
type Both<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Same<A, B> = Both<A, B> extends true ? Both<keyof A, keyof B> : false;
`;

test('the types of the built-in kinds in the package are those of client-node’s models, member by member', async () => {
  const text = declarationsOf(
    join(ROOT, 'node_modules/@kubernetes/client-node/dist/gen/models'),
    BUILT_IN_GROUPS,
  );
  const [, table = ''] = /^interface Models\{(.*)\}$/m.exec(text) ?? [];
  const names = table.split(';').map((entry) => entry.split(':'));
  assert.ok(names.length > 500, `${names.length} models`);
  assert.deepEqual(
    names.find(([model]) => model === 'V1Pod'),
    ['V1Pod', 'Pod'],
  );
  assert.equal(new Set(names.map(([, name]) => name)).size, names.length);
  assert.doesNotMatch(text.replaceAll(/\/\*\*.*\*\//g, ''), /\bany\b|\bDate\b|\bArray\b/);
  const folder = join(ROOT, '.cache/models-check');
  await mkdir(folder, { recursive: true });
  const checks = names.map(
    ([model], index) =>
      `export const c${index}: Same<ModelNamed<'${model}'>, Wire<clientNode.${model}>> = true;`,
  );
  await writeFile(join(folder, 'models.d.ts'), text);
  await writeFile(join(folder, 'check.ts'), CHECK + checks.join('\n'));
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    incremental: false,
    rootDir: '../..',
    exactOptionalPropertyTypes: true,
  };
  const project = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'], exclude: [] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], (_error, stdout) => resolve(stdout));
  });
  assert.equal(output, '');
  await rm(folder, { recursive: true });
});
