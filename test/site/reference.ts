/** The API reference as pages: TypeDoc's Markdown, a page for each entry of the package. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../unit/docs/documents.ts';

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types?: string }>>;
}

export interface Entry {
  /** The name that a program imports, such as `kubeloom/testing`. */
  readonly name: string;
  /** The file of its declarations. */
  readonly types: string;
  /** The name of its page in the folder of the reference, without `.md`. */
  readonly file: string;
}

/** Kubernetes' own types, which Kubernetes documents. */
const MODELS = './dist/src/kube/models.d.ts';
const DECLARATIONS = /^\.\/dist\/src\/(.*?)(?:\/index)?\.d\.ts$/;

/** Returns every entry of the package that declares types of its own. */
export function apiEntries(): Entry[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  return Object.entries(exports).flatMap(([path, entry]) => {
    if (typeof entry !== 'object' || entry.types === undefined || entry.types === MODELS) return [];
    const [, module = ''] = DECLARATIONS.exec(entry.types) ?? [];
    const name = path.replace(/^\./, 'kubeloom');
    return [{ name, types: join(ROOT, entry.types), file: module.replaceAll('/', '.') }];
  });
}

/**
 * Writes the pages. TypeDoc runs with the TypeScript beside it: it does not support 7 yet.
 *
 * @param tools folder in which TypeDoc is installed
 * @throws for a link in a comment that leads nowhere
 */
export async function writeReference(tools: string, out: string): Promise<void> {
  const entries = apiEntries();
  const tsconfig = join(tools, 'tsconfig.json');
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  };
  await writeFile(tsconfig, JSON.stringify({ compilerOptions, files: entries.map(({ types }) => types) }));
  const options = {
    plugin: [join(tools, 'node_modules/typedoc-plugin-markdown/dist/index.js')],
    tsconfig,
    entryPoints: entries.map(({ types }) => types),
    out,
    name: 'kubeloom',
    readme: 'none',
    disableSources: true,
    excludeExternals: true,
    excludeProtected: true,
    validation: { notExported: false, invalidLink: true },
    treatWarningsAsErrors: true,
    outputFileStrategy: 'modules',
    flattenOutputFiles: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
  };
  await writeFile(join(tools, 'typedoc.json'), JSON.stringify(options));
  const typedoc = join(tools, 'node_modules/typedoc/bin/typedoc');
  await promisify(execFile)(process.execPath, [typedoc, '--options', join(tools, 'typedoc.json')], {
    cwd: ROOT,
  });
  await nameEntries(out, entries);
}

/** Names each page after the entry. */
async function nameEntries(folder: string, entries: readonly Entry[]): Promise<void> {
  for (const file of await readdir(folder)) {
    const path = join(folder, file);
    const entry = entries.find((each) => `${each.file}.md` === file);
    const text = await readFile(path, 'utf8');
    if (entry) await writeFile(path, text.replace(/^# .*$/m, `# ${entry.name}`));
  }
}

/** Returns the page that leads to the entries. */
export function apiPage(entries: readonly Entry[]): string {
  const lines = entries.map(({ name, file }) => `- [${name}](/api/${file}.md)\n`);
  return `# API\n\nEvery name that a program can import, with its types, made from the comments of the code.\n\n${lines.join('')}`;
}
