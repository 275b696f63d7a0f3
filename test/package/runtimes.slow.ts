/** The package on the newest Node, on Bun and on Deno. `package.slow.ts` has the same checks on this Node. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { install, pack } from './installation.ts';
import { CHECKS, savePrograms } from './installed-package.ts';
import { NODES, OTHERS, programOf } from './runtimes.ts';

describe('the installed package', () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeloom-runtimes-'));
    await install(folder, ['--ignore-scripts', await pack(folder)]);
    await savePrograms(folder);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  for (const runtime of [...NODES.slice(-1), ...OTHERS]) {
    for (const [name, check] of Object.entries(CHECKS)) {
      test(`passes ${name} on ${runtime.name}`, async () => {
        await check({ folder, runtime, program: await programOf(runtime) });
      });
    }
  }
});
