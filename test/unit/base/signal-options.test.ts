/** The signals of public calls: one style, and wrong options are refused with the remedy. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { requiredSignal, signalOf, signalOfRun } from '../../../src/base/signal-options.ts';
import { SharedIndexInformer, resources, waitForCacheSync } from '../../../src/index.ts';
import { ROOT } from '../../contract/clauses.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';

const REPORTS = join(ROOT, 'test/api');

/** Calls that the library makes, of objects of a program; and a client of which the signal is the fence, and ends no call. */
const OF_PROGRAMS: readonly RegExp[] = [
  /^(?:list|watch)\(options: ListOptions, signal\??: AbortSignal\)/,
  /^(?:create|update)\((?:record|stored): \w+, .*signal: AbortSignal\): Promise<StoredRecord>/,
  /^get\(signal: AbortSignal\): Promise<StoredRecord \| undefined>/,
  /^(?:fenced|until)\(signal: AbortSignal\)/,
];

/** Returns the signatures with a parameter that is a signal. Parameters of functions among the parameters are others. */
function positional(report: string): string[] {
  return report
    .split('\n')
    .map((line) => line.trim().replace(/^export function /, ''))
    .filter((line) => /^(?!export type )[\w<>$, =]+\(/.test(line))
    .filter((line) => {
      let depth = 0;
      const own = Array.from(line, (character) => {
        if (character === ')') depth--;
        const isOwn = depth === 1;
        if (character === '(') depth++;
        return isOwn ? character : ' ';
      });
      return /: AbortSignal\b/.test(own.join(''));
    });
}

describe('the signal of a public call', () => {
  test('C415 is an option, and no parameter', () => {
    const reports = readdirSync(REPORTS).filter((name) => name.endsWith('.api.md'));
    assert.ok(reports.length > 5);
    const found = reports.flatMap((name) => positional(readFileSync(join(REPORTS, name), 'utf8')));
    assert.deepEqual(
      found.filter((line) => !OF_PROGRAMS.some((pattern) => pattern.test(line))),
      [],
    );
    const sample =
      '    wait(signal?: AbortSignal): void;\n    run(lead: (signal: AbortSignal) => void): void;';
    assert.deepEqual(positional(sample), ['wait(signal?: AbortSignal): void;']);
  });

  test('C415 is refused in place of the options, as is every other value', () => {
    const { signal } = new AbortController();
    assert.equal(signalOf('get()', undefined), undefined);
    assert.equal(signalOf('get()', {}), undefined);
    assert.equal(signalOf('get()', { signal }), signal);
    assert.throws(() => signalOf('get()', signal as never), {
      code: 'ERR_KUBELOOM_OPTION',
      message: 'options of get() are an AbortSignal: pass { signal }',
    });
    assert.throws(() => signalOf('get()', { sginal: signal } as never), {
      code: 'ERR_KUBELOOM_OPTION',
      message: 'options of get() have no "sginal": did you mean signal?',
    });
    assert.throws(() => signalOf('get()', { signal: 5 } as never), { code: 'ERR_KUBELOOM_OPTION' });
  });

  test('may stand for the options of run() in JavaScript, and is necessary where nothing else ends the call', () => {
    const { signal } = new AbortController();
    assert.equal(signalOfRun('run()', signal as never), signal);
    assert.equal(requiredSignal('run()', { signal }), signal);
    for (const options of [undefined, {}, 5, null])
      assert.throws(() => requiredSignal('run()', options as never), { code: 'ERR_KUBELOOM_OPTION' });
  });

  test('C415 is checked by the calls of an informer, which reject', async () => {
    const informer = new SharedIndexInformer(
      kubeConfigFor('https://127.0.0.1:1', {}),
      resources.core.v1.pods,
    );
    const wrong = AbortSignal.abort() as never;
    for (const call of [
      () => informer.waitForSync(wrong),
      () => informer.waitForSync({ registration: {} } as never),
      () => informer.waitForResourceVersion('1', wrong),
      () => informer.run({ singal: wrong } as never),
      () => waitForCacheSync([informer], wrong),
      () => waitForCacheSync(wrong),
    ])
      await assert.rejects(call(), { code: 'ERR_KUBELOOM_OPTION' });
    await informer.shutdown();
  });
});
