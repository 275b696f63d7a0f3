/**
 * Builds the site: documents, the API reference, the cases of faults and the report of a load test become pages, and VitePress
 * makes HTML of them. Its tools have 150 MB, so the first build installs them, and `npm ci` does not.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { casesPage } from '../faults/cases-page.ts';
import { ROOT } from '../unit/docs/documents.ts';
import { runCommand, startScene } from '../unit/tools/cli/command.ts';
import { configText } from './config.ts';
import { assetOf, folderPage, isAsset, llmsText, pageOf, sourceOf, sourcePage } from './markdown.ts';
import { API_PAGE, FAULTS_PAGE, REPORT_PAGE, SECTIONS, placeOf } from './navigation.ts';
import { apiEntries, apiPage, writeReference } from './reference.ts';

const TOOLS = join(ROOT, '.cache/site');
const PACKAGES = ['vitepress@1.6.4', 'typedoc@0.28.20', 'typedoc-plugin-markdown@4.14.1', 'typescript@5.9.3'];
const PAGES = join(TOOLS, 'pages');
const PUBLIC = join(PAGES, 'public');
/** The folder that a web server serves. */
export const SITE: string = join(TOOLS, 'dist');

const REPORT = `# Report of a load test

The preset \`smoke\` against an embedded apiserver, on the machine that built this site: [the report](/loadtest-report.html){target="_self"}.
[Load tests](/loadtest.md) says how to read it.

A thousand watchers on a real kube-apiserver:

![The beginning of a report](/loadtest/report.png)
`;

const run = promisify(execFile);

/** Builds everything anew, and returns the number of pages. It needs the declarations that `npm run prepare` writes. */
export async function buildSite(): Promise<number> {
  await installTools();
  await rm(PAGES, { recursive: true, force: true });
  await mkdir(PUBLIC, { recursive: true });
  const pages = await writePages();
  await Promise.all([writeReference(TOOLS, join(PAGES, 'api')), writeReport()]);
  await rm(join(PAGES, 'api/README.md'));
  await writeTheme();
  const vitepress = join(TOOLS, 'node_modules/vitepress/bin/vitepress.js');
  await run(process.execPath, [vitepress, 'build', PAGES], { cwd: PAGES, maxBuffer: 2 ** 26 });
  return pages;
}

/** Installs the tools unless they are there in these versions. None of them needs an install script. */
async function installTools(): Promise<void> {
  const marker = join(TOOLS, 'installed.json');
  const wanted = JSON.stringify(PACKAGES);
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  await mkdir(TOOLS, { recursive: true });
  await writeFile(join(TOOLS, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--silent', '--ignore-scripts', ...PACKAGES], { cwd: TOOLS });
  await writeFile(marker, wanted);
}

/** Writes every page but the reference, and llms.txt. Returns how many. */
async function writePages(): Promise<number> {
  const written: Readonly<Record<string, string>> = {
    [FAULTS_PAGE]: casesPage(),
    [REPORT_PAGE]: REPORT,
    [API_PAGE]: apiPage(apiEntries()),
  };
  const textOf = (path: string): string => written[path] ?? readFileSync(join(ROOT, path), 'utf8');
  const files = new Set<string>();
  const paths = SECTIONS.flatMap(({ pages }) => pages.map(({ path }) => path));
  for (const path of paths) {
    const page = path in written ? { text: textOf(path), files: [] } : pageOf(path, textOf(path));
    for (const file of page.files) files.add(file);
    await write(join(PAGES, placeOf(path)), page.text);
    // The page as text, for programs that read llms.txt.
    await write(join(PUBLIC, placeOf(path)), page.text);
  }
  for (const file of files) await writeFileOf(file);
  const { description } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    description: string;
  };
  await write(join(PUBLIC, 'llms.txt'), llmsText(description, textOf));
  await write(join(PAGES, '.vitepress/config.mjs'), configText(description, SITE, apiEntries()));
  return paths.length;
}

/** Writes the page of a file or folder that a document links to, or copies a picture. */
async function writeFileOf(path: string): Promise<void> {
  const file = join(ROOT, path);
  if (statSync(file).isDirectory()) {
    const names = await readdir(file);
    for (const name of names) await writeFileOf(join(path, name));
    return write(join(PAGES, sourceOf(path)), folderPage(path, names));
  }
  if (!isAsset(path))
    return write(join(PAGES, sourceOf(path)), sourcePage(path, await readFile(file, 'utf8')));
  const asset = join(PUBLIC, assetOf(path));
  await mkdir(dirname(asset), { recursive: true });
  await copyFile(file, asset);
}

/** Runs a load test and writes the report, whatever the verdict is: on a slow machine it is INVALID. */
async function writeReport(): Promise<void> {
  await using scene = await startScene('kind-site');
  const report = join(PUBLIC, 'loadtest-report.html');
  const flags = ['--kubeconfig', scene.kubeconfig, '--html', report];
  const { stderr } = await runCommand(['loadtest', 'smoke', ...flags]);
  if (!existsSync(report)) throw new Error(`the load test wrote no report: ${stderr}`);
}

/** Writes the theme: VitePress' own without its fonts. */
async function writeTheme(): Promise<void> {
  const theme = join(PAGES, '.vitepress/theme');
  await write(
    join(theme, 'index.js'),
    `export { default } from 'vitepress/theme-without-fonts';\nimport './site.css';\n`,
  );
  await copyFile(join(ROOT, 'test/site/site.css'), join(theme, 'site.css'));
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
