/**
 * The repository's own TypeScript as text, with the same text once more in which comments and the contents
 * of strings are blank: rules look for code there without finding it in prose. Positions are the same.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface SourceFile {
  /** From the repository's root, with forward slashes: `src/shared/ring/bell.ts`. */
  readonly path: string;
  readonly text: string;
  /** Comments, regular expressions and the contents of strings and templates replaced by spaces. */
  readonly code: string;
  /** Everything but comments replaced by spaces. */
  readonly comments: string;
}

const FOLDERS = ['src', 'workers', 'bench', 'test'];
/** Separate projects, which test/package builds elsewhere. */
const IGNORED = ['test/package/fixtures'];

export function parseSource(filePath: string, text: string): SourceFile {
  const { code, comments } = new Masker(text).run();
  return { path: filePath, text, code, comments };
}

/** The line, counted from 1, on which a position lies. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < position; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** Every TypeScript file of the repository that this compiled file belongs to. */
export function readRepository(): SourceFile[] {
  const root = repositoryRoot();
  const files: SourceFile[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const name = `${folder}/${entry.name}`;
      if (IGNORED.includes(name)) continue;
      if (entry.isDirectory()) walk(name);
      else if (/\.c?ts$/.test(entry.name)) {
        files.push(parseSource(name, readFileSync(path.join(root, name), 'utf8')));
      }
    }
  };
  for (const folder of FOLDERS) if (existsSync(path.join(root, folder))) walk(folder);
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The documents whose prose is checked. */
export function readDocuments(): { path: string; text: string }[] {
  const root = repositoryRoot();
  const inDocs = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll(path.sep, '/')}`);
  const above = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'test/README.md'];
  return [...above, ...inDocs.toSorted()].map((name) => ({
    path: name,
    text: readFileSync(path.join(root, name), 'utf8'),
  }));
}

/** Tests run compiled, in a folder that differs: the root is the nearest one that has a package.json. */
function repositoryRoot(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error('no package.json above the compiled test');
    folder = parent;
  }
  return folder;
}

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const STRING = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const REGULAR_EXPRESSION = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
const WORD = /[\w$]+/y;
/** After these words a slash begins a regular expression; after any other it divides. */
const BEFORE_EXPRESSION = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'throw',
  'await',
  'yield',
  'else',
]);

/** Walks over the text once, token by token. */
class Masker {
  readonly #text: string;
  readonly #code: string[] = [];
  readonly #comments: string[] = [];
  /** For every template that is open: how many braces are open inside its current `${`. */
  readonly #templates: number[] = [];
  #at = 0;
  #previous = '';

  constructor(text: string) {
    this.#text = text;
  }

  run(): { code: string; comments: string } {
    while (this.#at < this.#text.length) this.#step();
    return { code: this.#code.join(''), comments: this.#comments.join('') };
  }

  #step(): void {
    const character = this.#text[this.#at] ?? '';
    const comment = this.#match(COMMENT);
    if (comment !== undefined) return this.#emit(blank(comment), comment);
    const text = this.#match(STRING);
    if (text !== undefined) return this.#emitToken(`${character}${blank(text.slice(1, -1))}${character}`);
    if (character === '`') return this.#template('`');
    const regularExpression = this.#mayBeRegularExpression() ? this.#match(REGULAR_EXPRESSION) : undefined;
    if (regularExpression !== undefined) return this.#emitToken(blank(regularExpression), ')');
    const word = this.#match(WORD);
    if (word !== undefined) return this.#emitToken(word);
    const open = this.#templates.at(-1);
    if (character === '}' && open === 0) return this.#template('}');
    if (open !== undefined && character === '{') this.#templates[this.#templates.length - 1] = open + 1;
    if (open !== undefined && character === '}') this.#templates[this.#templates.length - 1] = open - 1;
    if (/\s/.test(character)) return this.#emit(character, blank(character));
    this.#emitToken(character);
  }

  /** From the opening backtick, or the brace that ends a `${}`, to the next `${` or the closing backtick. */
  #template(first: '`' | '}'): void {
    if (first === '}') this.#templates.pop();
    this.#emitToken(first);
    const text = this.#match(TEMPLATE_TEXT) ?? '';
    this.#emit(blank(text), blank(text));
    if (this.#text[this.#at] === '$') {
      this.#emitToken('${');
      this.#templates.push(0);
    } else this.#emitToken('`', ')');
  }

  #mayBeRegularExpression(): boolean {
    if (this.#text[this.#at] !== '/') return false;
    if (/^[\w$]/.test(this.#previous)) return BEFORE_EXPRESSION.has(this.#previous);
    return !/[)\]}'"`]$/.test(this.#previous);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }

  /** @param previous the token before the next slash */
  #emitToken(code: string, previous: string = code): void {
    this.#previous = previous;
    this.#emit(code, blank(code));
  }

  #emit(code: string, comments: string): void {
    this.#code.push(code);
    this.#comments.push(comments);
    this.#at += code.length;
  }
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
