/**
 * `npm run reference`: writes the API reference to docs/api, which is not committed, and checks every link in it. TypeDoc
 * runs with a TypeScript of its own: it supports 7 not yet.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { htmlLinks } from '../package/links.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TOOLS = join(ROOT, '.cache/reference');
const OUT = join(ROOT, 'docs/api');
const PACKAGES = ['typedoc@0.28.20', 'typescript@5.9.3'];

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types?: string }>>;
}

/** Kubernetes' own types, which Kubernetes documents. */
const MODELS = './dist/src/kube/models.d.ts';

/** Returns the declarations of every entry with types of ours. */
function entryPoints(): string[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  return Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' && entry.types !== undefined && entry.types !== MODELS
      ? [join(ROOT, entry.types)]
      : [],
  );
}

/** Installs the tools unless they are there in these versions. */
function installTools(): void {
  const marker = join(TOOLS, 'installed.json');
  const wanted = JSON.stringify(PACKAGES);
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  mkdirSync(TOOLS, { recursive: true });
  writeFileSync(join(TOOLS, 'package.json'), '{"private":true}');
  execFileSync('npm', ['install', '--silent', ...PACKAGES], { cwd: TOOLS, stdio: 'inherit' });
  writeFileSync(marker, wanted);
}

function writeReference(): void {
  const entries = entryPoints();
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
  writeFileSync(join(TOOLS, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: entries }));
  const options = {
    tsconfig: join(TOOLS, 'tsconfig.json'),
    entryPoints: entries,
    out: OUT,
    name: 'kubeloom',
    readme: 'none',
    disableSources: true,
    excludeExternals: true,
    excludeProtected: true,
    githubPages: false,
    validation: { notExported: false, invalidLink: true },
    treatWarningsAsErrors: true,
  };
  writeFileSync(join(TOOLS, 'typedoc.json'), JSON.stringify(options));
  const typedoc = join(TOOLS, 'node_modules/typedoc/bin/typedoc');
  execFileSync(process.execPath, [typedoc, '--options', join(TOOLS, 'typedoc.json')], {
    cwd: ROOT,
    stdio: 'inherit',
  });
}

/** Returns the links that lead nowhere, each with its page. */
function brokenLinks(pages: readonly string[]): string[] {
  return pages.flatMap((page) =>
    htmlLinks(readFileSync(join(OUT, page), 'utf8'))
      .filter((target) => !existsSync(join(OUT, dirname(page), target)))
      .map((target) => `${relative(ROOT, join(OUT, page))}: ${target}`),
  );
}

installTools();
writeReference();
const pages = readdirSync(OUT, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.html'),
);
const broken = brokenLinks(pages);
for (const line of broken) console.error(`leads nowhere: ${line}`);
console.log(`${pages.length} pages in docs/api, ${broken.length} broken links`);
process.exitCode = broken.length === 0 && pages.length > 0 ? 0 : 1;
