/**
 * Finds the TypeScript of the documentation: blocks, and options and calls within sentences. Pure except for reading.
 */
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = repositoryRoot(dirname(fileURLToPath(import.meta.url)));

export interface Snippet {
  readonly document: string;
  /** The line of the document at which the code begins. */
  readonly line: number;
  readonly kind: 'block' | 'option' | 'call';
  /** The code; an option has its braces. */
  readonly code: string;
}

const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const FENCED = /^( *)```(\w*)\n([^]*?)^ *```$/gm;
/** Languages of other fences. A language that is missing here may be TypeScript under another name. */
const OTHER_LANGUAGES: ReadonlySet<string> = new Set(['', 'sh', 'json', 'yaml', 'text', 'dockerfile']);
/** The first line of a file that a reader is to save. */
const FILE = /^\/\/ [\w.-]+\.mjs\n/;
/** The first line of an excerpt of a file that is compiled, and run, as it is. */
const EXCERPT = /^(?:\/\/|#) (examples\/\S+)\n([^]*)$/;
const LOOKS_LIKE_TYPESCRIPT = /^\s*(?:import|export|const|await|new) /m;

/** `name: value` */
const OPTION = /^\w+: \S/;
/** `{ name: value }` */
const OPTIONS = /^\{ \w+: .*\}$/;
/** `call(something)`, `new Thing(something)`, `object.call(something).call()` */
const CALL = /^(?:await |new )?[A-Za-z][\w.]*\([^)].*\)$/;

/** Returns every snippet of the documentation, and the blocks in the doc comments of the sources. */
export async function snippets(): Promise<Snippet[]> {
  const names = await readdir(join(ROOT, 'docs'), { recursive: true });
  const documents = names.filter((name) => name.endsWith('.md')).map((name) => join('docs', name));
  const found: Snippet[] = [];
  for (const document of [...DOCUMENTS, ...documents.toSorted()]) {
    found.push(...snippetsOf(document, await readFile(join(ROOT, document), 'utf8')));
  }
  const sources = await readdir(join(ROOT, 'src'), { recursive: true });
  for (const source of sources.filter((name) => name.endsWith('.ts')).map((name) => join('src', name))) {
    const text = await readFile(join(ROOT, source), 'utf8');
    if (text.includes(' * ```ts\n')) found.push(...blocksInComments(source, text));
  }
  return found;
}

/** Returns the blocks in the doc comments of a source file, at their lines. */
export function blocksInComments(source: string, text: string): Snippet[] {
  const comments = text.replaceAll(/^(?! *\*).*$/gm, '').replaceAll(/^ *\*\/? ?/gm, '');
  return snippetsOf(source, comments).filter(({ kind }) => kind === 'block');
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}

/** @throws for a fence that holds TypeScript and does not say so */
export function snippetsOf(document: string, text: string): Snippet[] {
  const lineAt = (index: number): number => text.slice(0, index).split('\n').length;
  const found: Snippet[] = [];
  const prose = text.replaceAll(
    FENCED,
    (fence: string, _indent: string, language: string, code: string, index: number) => {
      const line = lineAt(index) + 1;
      if (EXCERPT.test(code)) return blank(fence);
      if (language === 'ts') found.push({ document, line, kind: 'block', code });
      // A file of a recipe: test/package runs it.
      else if (language === 'js' && FILE.test(code)) return blank(fence);
      else if (!OTHER_LANGUAGES.has(language) || LOOKS_LIKE_TYPESCRIPT.test(code)) {
        throw new Error(`${document}:${line} is TypeScript? Then its fence says \`ts\``);
      }
      return blank(fence);
    },
  );
  for (const { index, 1: inline = '' } of prose.matchAll(/`([^`]+)`/g)) {
    const code = inline.replaceAll(/\s+/g, ' ').replaceAll('\\|', '|');
    const line = lineAt(index);
    // Code with an ellipsis cannot be compiled.
    if (code.includes('…')) continue;
    if (OPTION.test(code)) found.push({ document, line, kind: 'option', code: `{ ${code} }` });
    else if (OPTIONS.test(code)) found.push({ document, line, kind: 'option', code });
    else if (CALL.test(code)) found.push({ document, line, kind: 'call', code });
  }
  return found;
}

/** Returns the excerpts of a document: the path of the file in `docs`, and the lines that the file has. */
export function excerptsOf(text: string): readonly (readonly [path: string, lines: string])[] {
  return Array.from(text.matchAll(FENCED), ([, , , code = '']) => EXCERPT.exec(code)).flatMap((found) =>
    found ? [[found[1] ?? '', found[2] ?? ''] as const] : [],
  );
}

function repositoryRoot(folder: string): string {
  return existsSync(join(folder, 'package-lock.json')) ? folder : repositoryRoot(dirname(folder));
}

/** A merge patch of a status or an object, up to the end of the statement. */
const PATCH = /\.(?:patch|patchStatus)\(([^;]*?)\);/g;
/** A list in a patch: a literal, or a member that is a list in objects of Kubernetes. */
const LIST =
  /\w+: \[|\b(?:conditions|finalizers|ownerReferences|containers|initContainers|volumes|volumeMounts|env|args|command|ports|taints|tolerations|rules|subjects|items)\b\s*[,:}]/;

/**
 * Returns the lines of merge patches that replace a list without the version that was read: such a patch removes the items that
 * another program has added.
 */
export function unversionedLists(text: string): number[] {
  return Array.from(text.matchAll(PATCH))
    .filter(([, call = '']) => LIST.test(call) && !/resourceVersion|type: '(?:json|strategic)'/.test(call))
    .map(({ index }) => text.slice(0, index).split('\n').length);
}
