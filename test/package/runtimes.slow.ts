/** The package on Bun and Deno; on this Node as well, so that a failure says whose it is. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { install, pack } from './installation.ts';
import { CHECKS, savePrograms } from './installed-package.ts';
import { OTHERS, programOf } from './runtimes.ts';

const THIS_NODE = { name: 'Node', run: [], test: ['--test'] };

describe('the installed package', () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeloom-runtimes-'));
    await install(folder, ['--ignore-scripts', await pack(folder)]);
    await savePrograms(folder);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  for (const runtime of [THIS_NODE, ...OTHERS]) {
    for (const [name, check] of Object.entries(CHECKS)) {
      test(`passes ${name} on ${runtime.name}`, async () => {
        const program = 'spec' in runtime ? await programOf(runtime) : process.execPath;
        await check({ folder, runtime, program });
      });
    }
  }
});
