/** Fake timers of a test must not stop the pipeline: all of `src` takes the real ones when it is loaded. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

/** Walks from dist or .cache up to the repository. */
function sources(): string {
  for (let folder = import.meta.dirname; ; folder = join(folder, '..')) {
    if (readdirSync(folder).includes('package.json')) return join(folder, 'src');
  }
}

const GLOBAL_TIMER = /(?<![\w.'])(?:set|clear)(?:Timeout|Interval|Immediate)(?=\s*[(),;])/;

it('C136 no file of src but clock.ts uses the global timers, except in the command line', () => {
  const root = sources();
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  assert.ok(files.length > 100);
  const offenders = files
    .filter((path) => path !== join('base', 'clock.ts') && !path.startsWith('tools/cli/'))
    .flatMap((path) =>
      readFileSync(join(root, path), 'utf8')
        .split('\n')
        .map((line, index) => ({ line: line.trim(), where: `src/${path}:${index + 1}` }))
        .filter(({ line }) => !/^(?:\*|\/\*|\/\/)/.test(line) && GLOBAL_TIMER.test(line))
        .map(({ where, line }) => `${where}: ${line}`),
    );
  assert.deepEqual(offenders, [], 'use realTimers or realClock of src/base/clock.ts');
});
