/**
 * Draws docs/loadtest/report.png: the page of docs/loadtest/thousand-watchers.yaml, run against a real kube-apiserver, in
 * Chromium.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../unit/docs/documents.ts';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { runCommand } from '../unit/tools/cli/command.ts';
import { Chromium, findChromium } from '../unit/tools/loadtest/chromium.ts';
import { startControlPlane } from './control-plane.ts';

/** As wide as a README is shown, and sharp on dense screens. */
const SIZE = { width: 1000, height: 1240, deviceScaleFactor: 1.5 };

const program = findChromium();
if (program === undefined) throw new Error('the picture needs chromium: install it from the distribution');
await using server = await startControlPlane();
await using folder = new TemporaryFolder();
const page = folder.file('report.html');
const workload = join(ROOT, 'docs/loadtest/thousand-watchers.yaml');
const run = await runCommand(['loadtest', workload, '--kubeconfig', server.kubeconfigPath, '--html', page]);
console.log(run.stdout);
if (run.exitCode !== 0) throw new Error(`the run was no PASS, so there is no new picture:\n${run.stderr}`);
await using chromium = await Chromium.start(program);
await chromium.open(page, 'light', SIZE);
await writeFile(join(ROOT, 'docs/loadtest/report.png'), await chromium.picture());
