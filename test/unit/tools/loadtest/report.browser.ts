/** Pages of load tests in Chromium: what a reader sees, in both colour schemes, and that nothing is loaded. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { comparePage } from '../../../../src/tools/loadtest/report/compare-page.ts';
import { compareResults } from '../../../../src/tools/loadtest/report/compare.ts';
import { junitText } from '../../../../src/tools/loadtest/report/junit.ts';
import { parseResult } from '../../../../src/tools/loadtest/report/read-result.ts';
import { reportPage } from '../../../../src/tools/loadtest/report/report-page.ts';
import type { LoadTestResult } from '../../../../src/tools/loadtest/result.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { runCommand, startScene } from '../cli/command.ts';
import { Chromium, findChromium } from './chromium.ts';
import { exampleResult } from './example-result.ts';

const PICTURES = fileURLToPath(new URL('../../../../../.cache/report/', import.meta.url));
const SCHEMES = ['light', 'dark'] as const;

/** Pixels of each canvas that have a colour, as lines have; axes and grids are grey. */
const INK = `[...document.querySelectorAll('.plot canvas')].map((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let ink = 0;
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue, opacity] = data.slice(at, at + 4);
    if (opacity > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) ink++;
  }
  return ink;
})`;

function runIn(program: string): void {
  const reader = new Reader();
  before(() => reader.start(program));
  after(() => reader[Symbol.asyncDispose]());
  describe('the page of a run in Chromium', () => runPages(reader));
  describe('other pages and files in Chromium', () => otherPages(reader));
}

class Reader implements AsyncDisposable {
  #opened: { readonly chromium: Chromium; readonly folder: TemporaryFolder } | undefined;

  async start(program: string): Promise<void> {
    await mkdir(PICTURES, { recursive: true });
    this.#opened = { chromium: await Chromium.start(program), folder: new TemporaryFolder() };
  }

  get folder(): TemporaryFolder {
    return this.#started.folder;
  }

  async open(name: string, page: string, scheme: 'light' | 'dark'): Promise<void> {
    const { chromium, folder } = this.#started;
    chromium.complaints.length = 0;
    await chromium.open(folder.write(`${name}.html`, page), scheme);
    await writeFile(`${PICTURES}${name}-${scheme}.png`, await chromium.picture());
  }

  evaluate(expression: string): Promise<unknown> {
    return this.#started.chromium.evaluate(expression);
  }

  async assertDrawn(): Promise<void> {
    const ink = (await this.evaluate(INK)) as readonly number[];
    const plots = Number(await this.evaluate(`document.querySelectorAll('.plot').length`));
    assert.ok(plots > 5, `${plots} plots`);
    assert.equal(ink.length, plots);
    assert.ok(Math.min(...ink) > 100, `pixels of the plots: ${ink.join(', ')}`);
    assert.deepEqual(this.#started.chromium.complaints, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.chromium[Symbol.asyncDispose]();
    await this.#opened?.folder[Symbol.asyncDispose]();
  }

  get #started(): { readonly chromium: Chromium; readonly folder: TemporaryFolder } {
    assert.ok(this.#opened, 'the browser was started');
    return this.#opened;
  }
}

function runPages(reader: Reader): void {
  for (const scheme of SCHEMES) {
    it(`shows the verdict and draws every plot of the example, ${scheme}`, async () => {
      await reader.open('example', reportPage(exampleResult()), scheme);
      await reader.assertDrawn();
      const verdict = String(await reader.evaluate(`document.getElementById('verdict').innerText`));
      assert.match(verdict, /^THRESHOLD\n.*\n.*sync p99 < 1s: it was 3060 ms/s);
      const dark = Number(
        await reader.evaluate(`Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])`),
      );
      assert.equal(dark < 128, scheme === 'dark');
    });
  }

  it('shows what a run of the preset smoke measured, and draws again when the page gets narrow', async () => {
    const result = await smokeResult(reader.folder);
    await reader.open('smoke', await readFile(reader.folder.file('smoke-run.html'), 'utf8'), 'light');
    await reader.assertDrawn();
    const verdict = String(await reader.evaluate(`document.getElementById('verdict').innerText`));
    assert.ok(verdict.startsWith(result.conclusion.kind), verdict);
    const workload = await reader.evaluate(`document.getElementById('workload').textContent`);
    assert.equal(workload, result.run.workloadYaml);
    await reader.evaluate(`new Promise((resolve) => {
      document.querySelector('main').style.width = '600px';
      requestAnimationFrame(() => requestAnimationFrame(resolve));
    })`);
    await reader.assertDrawn();
    const overflow = await reader.evaluate(
      `document.querySelector('.plot').scrollWidth - document.querySelector('.plot').clientWidth`,
    );
    assert.equal(overflow, 0);
  });
}

function otherPages(reader: Reader): void {
  for (const scheme of SCHEMES) {
    it(`shows two runs side by side, ${scheme}`, async () => {
      const before = exampleResult();
      const comparison = compareResults(
        ['a.json', 'b.json'],
        [before, { ...before, conclusion: { kind: 'PASS', reasons: [] } }],
      );
      await reader.open('compare', comparePage(comparison), scheme);
      await reader.assertDrawn();
      const verdicts = await reader.evaluate(
        `[...document.querySelectorAll('.verdict strong')].map((each) => each.textContent).join()`,
      );
      assert.equal(verdicts, 'THRESHOLD,PASS');
    });
  }

  it('shows names that look like markup as text, and loads nothing', async () => {
    const result = exampleResult();
    const evil = `</script><script>console.error('run')</script><img src=x onerror=console.error(1)>`;
    const [group] = result.watchers;
    assert.ok(group);
    const watchers = [{ ...group, name: evil, group: evil }];
    const run = { ...result.run, workloadYaml: evil, workload: { ...result.run.workload, name: evil } };
    const phases = result.phases.map((phase) => ({ ...phase, name: evil }));
    await reader.open('markup', reportPage({ ...result, run, watchers, phases }), 'light');
    await reader.assertDrawn();
    assert.equal(await reader.evaluate(`document.querySelector('h1').textContent`), evil);
    assert.equal(await reader.evaluate(`document.title`), `THRESHOLD: ${evil}`);
  });

  it('shows a thousand watchers as groups and the worst of them', async () => {
    const result = exampleResult();
    const [one] = result.watchers;
    assert.ok(one);
    const watchers = Array.from({ length: 1000 }, (_, index) => ({ ...one, name: `watcher ${index}` }));
    await reader.open('thousand', reportPage({ ...result, watchers }), 'light');
    await reader.assertDrawn();
    assert.ok(Number(await reader.evaluate(`document.querySelectorAll('tr').length`)) < 150);
  });

  it('reads the JUnit file of a run as well-formed XML', async () => {
    const result = exampleResult();
    const leaf = `a & b <c> "d" 'e' \u0000 \ud800 ]]>`;
    const xml = junitText({
      ...result,
      run: { ...result.run, workload: { ...result.run.workload, name: leaf } },
    });
    const parsed = await reader.evaluate(`(() => {
      const file = new DOMParser().parseFromString(${JSON.stringify(xml)}, 'application/xml');
      return [file.querySelector('parsererror')?.textContent ?? '', file.querySelector('testsuite').getAttribute('name')];
    })()`);
    assert.deepEqual(parsed, ['', `kubeloom loadtest a & b <c> "d" 'e' \\x00 \ufffd ]]>`]);
  });
}

/** Runs the preset `smoke` as a command, against the embedded apiserver. */
async function smokeResult(folder: TemporaryFolder): Promise<LoadTestResult> {
  await using scene = await startScene('kind-test');
  const files = ['--json', folder.file('smoke-run.json'), '--html', folder.file('smoke-run.html')];
  const { stderr } = await runCommand(['loadtest', 'smoke', '--kubeconfig', scene.kubeconfig, ...files]);
  return parseResult(await readFile(folder.file('smoke-run.json'), 'utf8'), stderr);
}

const program = findChromium();
if (program === undefined) process.stdout.write('NOT RUN: no chromium on this machine\n');
else runIn(program);
