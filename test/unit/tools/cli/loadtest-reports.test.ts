/** The report files of `kubeloom loadtest`, and the checks before a run. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { checkReportFlags, writeReports } from '../../../../src/tools/cli/loadtest/loadtest-reports.ts';
import { readResult } from '../../../../src/tools/loadtest/report/read-result.ts';
import { exampleResult } from '../loadtest/example-result.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { runCommand } from './command.ts';

describe('the report files of a load test', () => {
  it('are written where the flags say', async () => {
    await using folder = new TemporaryFolder();
    const [json, junit, html] = ['a.json', 'a.xml', 'a.html'].map((name) => folder.file(name));
    assert.ok(json && junit && html);
    const flags = { json, junit, html };
    checkReportFlags(flags);
    await writeReports(exampleResult(), flags);
    assert.equal(readResult(json).conclusion.kind, 'THRESHOLD');
    assert.match(await readFile(junit, 'utf8'), /^<\?xml /);
    assert.match(await readFile(html, 'utf8'), /^<!doctype html>/);
  });

  it('are refused before the run when their folder does not exist, or when the name is that of a workload', () => {
    const code = 'ERR_KUBELOOM_USAGE';
    assert.throws(() => checkReportFlags({ html: '/nowhere/a.html' }), {
      code,
      message: /a\.html cannot be written: ENOENT/,
    });
    assert.throws(() => checkReportFlags({ json: 'smoke' }), {
      code,
      message: /the workload comes before --json/,
    });
    assert.throws(() => checkReportFlags({ json: 'mine.yaml' }), { code });
    checkReportFlags({ json: true });
  });
});

describe('kubeloom loadtest --compare', () => {
  it('prints the comparison of two results and writes it as a page', async () => {
    await using folder = new TemporaryFolder();
    const a = folder.write('a.json', JSON.stringify(exampleResult()));
    const page = folder.file('compare.html');
    const { stdout, exitCode } = await runCommand(['loadtest', '--compare', a, a, '--html', page]);
    assert.equal(exitCode, 0);
    assert.match(stdout, /^A {3}THRESHOLD .*a\.json\nB {3}THRESHOLD .*a\.json\n/);
    assert.match(await readFile(page, 'utf8'), /<h2>Figures<\/h2>/);
  });

  it('refuses a file of another format, and another number of files', async () => {
    await using folder = new TemporaryFolder();
    const a = folder.write('a.json', JSON.stringify(exampleResult()));
    const b = folder.write('b.json', JSON.stringify({ ...exampleResult(), format: 2 }));
    const other = await runCommand(['loadtest', '--compare', a, b]);
    assert.equal(other.exitCode, 1);
    assert.match(
      other.stderr,
      /b\.json is not a result of a load test: it has the format 2.*ERR_KUBELOOM_USAGE/,
    );
    const one = await runCommand(['loadtest', '--compare', a]);
    assert.match(one.stderr, /--compare takes two results of --json, got 1/);
  });
});
