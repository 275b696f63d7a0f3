/**
 * The rules themselves: each takes all files and returns every violation, with where it is and what to do.
 */
import { functionsOf } from './functions.ts';
import {
  ATOMICS_ALLOWED,
  BANNED_NAMES,
  COMPARED_MEMBERS,
  DECIDING_MEMBERS,
  ENTRY_POINTS,
  FILE_LINES_MAX,
  FUNCTION_LINES_MAX,
  ROOMS,
  WORKER_IMPORTS,
} from './house.ts';
import { lineAt } from './source-file.ts';
import type { SourceFile } from './source-file.ts';
import path from 'node:path';

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export type Rule = (files: readonly SourceFile[]) => Violation[];

const isProduct = (path: string): boolean => path.startsWith('src/') || path.startsWith('workers/');

/** The room that a file of the product belongs to: a folder of `src` or of `src/tools`, a file of `src`, or `workers`. */
export function roomOf(path: string): string {
  const [top, room, tool] = path.split('/');
  if (top !== 'src') return top ?? '';
  return room === 'tools' ? `tools/${tool ?? ''}` : (room ?? '');
}

/** Pairs of rooms of which the first imports the second. */
export function edgesBetweenRooms(files: readonly SourceFile[]): ReadonlySet<string> {
  const edges = new Set<string>();
  for (const file of files.filter(({ path }) => isProduct(path))) {
    for (const { target } of importsOf(file)) {
      if (isProduct(target) && roomOf(target) !== roomOf(file.path))
        edges.add(`${roomOf(file.path)} → ${roomOf(target)}`);
    }
  }
  return edges;
}

export const importDirections: Rule = (files) => {
  const violations: Violation[] = [];
  for (const file of files.filter(({ path }) => isProduct(path))) {
    const room = roomOf(file.path);
    const allowed = room === 'workers' ? WORKER_IMPORTS : ROOMS.find(({ name }) => name === room)?.imports;
    if (!allowed) {
      violations.push({ path: file.path, line: 1, message: `'${room}' is no room of test/tidy/house.ts` });
      continue;
    }
    for (const { line, target } of importsOf(file)) {
      const message = directionError(room, allowed, target);
      if (message) violations.push({ path: file.path, line, message });
    }
  }
  return violations;
};

function directionError(room: string, allowed: readonly string[], target: string): string | undefined {
  if (!isProduct(target)) return `the product must not import ${target}`;
  const targetRoom = roomOf(target);
  if (targetRoom === room || targetRoom === 'workers' || allowed.includes(targetRoom)) return undefined;
  if (allowed.includes('entries') && ENTRY_POINTS.includes(target)) return undefined;
  return `'${room}' must not import '${targetRoom}' (${target}); it may: ${allowed.join(', ') || 'nothing'}`;
}

export const noImportCycles: Rule = (files) => {
  const graph = new ImportGraph(files);
  const violations: Violation[] = [];
  const seen = new Set<string>();
  for (const { path } of files) {
    for (const imported of graph.importsOf(path)) {
      const cycle = graph.cycleThrough(path, imported);
      if (!cycle) continue;
      const members = cycle.slice(1).toSorted().join();
      if (seen.has(members)) continue;
      seen.add(members);
      violations.push({
        path,
        line: imported.line,
        message: `import cycle, types count: ${cycle.join(' → ')}`,
      });
    }
  }
  return violations;
};

export const atomicsInTheirPlace: Rule = (files) => {
  const violations: Violation[] = [];
  for (const file of files) {
    if (file.path.startsWith('test/') || ATOMICS_ALLOWED.includes(file.path)) continue;
    for (const match of file.code.matchAll(/\bAtomics\b/g)) {
      const message = `Atomics outside ${ATOMICS_ALLOWED.join(' and ')}: use Word, Deadline or Bell of src/shared/ring`;
      violations.push({ path: file.path, line: lineAt(file.text, match.index), message });
    }
  }
  return violations;
};

const QUOTING = 'its error quotes the text, which may be a Secret: use parseJson';

/** Calls that only one file makes, and the reason. */
const ONE_PLACE: readonly (readonly [RegExp, string, string])[] = [
  [/\.addEventListener\(\s*'abort'/g, 'src/base/on-abort.ts', 'a signal may be aborted already: use onAbort'],
  [/from 'node:timers\/promises'/g, '', 'its pauses end after 1 ms beyond 31 bits: use sleep'],
  [/\bAbortSignal\.timeout\(/g, 'src/base/time-limit.ts', 'Node may collect it: use TimeLimit'],
  [
    /\bset(?:Timeout|Interval)\((?:[^()]|\([^()]*\))*?,\s*(?![A-Z][A-Z_]*[,)])[\w.#]+\s*,?\s*(?:false\s*)?\)/g,
    'src/base/clock.ts',
    'a delay that is no constant may exceed 31 bits: use a clock',
  ],
  [
    /\bString\((?:cause|error|thrown|reason)\)/g,
    'src/base/errors.ts',
    'a value without a text would throw again: use messageOf',
  ],
  [/\bJSON\.parse\(/g, 'src/base/parse-json.ts', QUOTING],
  [
    /\bconsole\.(?:log|error)\(|\bprocess\.std(?:out|err)\.write\((?!\s*escapeControls\()/g,
    'src/tools/cli/terminal/output.ts',
    'its text may control a terminal: use the functions of src/tools/cli/terminal/output.ts',
  ],
  [
    /\bcreateLogUpdate\(/g,
    'src/tools/cli/terminal/screen.ts',
    'its text may control a terminal: use screenOn',
  ],
  [/\bprintLine\(\s*JSON\.stringify\(/g, '', 'the escape of a control character is no JSON: use printJson'],
  [
    /\.addWithOptions\([^;]*\.\.\./g,
    '',
    'a call has at most 100,000 arguments: add one item after the other',
  ],
  [/'node:stream\/consumers'/g, 'src/base/parse-json.ts', `${QUOTING}, and limit the bytes`],
];

export const waitsInTheirPlace: Rule = (files) =>
  files
    .filter(({ path }) => isProduct(path))
    .flatMap((file) =>
      ONE_PLACE.filter(([, place]) => place !== file.path).flatMap(([pattern, , message]) =>
        [...file.text.matchAll(pattern)]
          .filter(({ index }) => file.code[index] !== ' ')
          .map(({ index }) => ({
            path: file.path,
            line: lineAt(file.text, index),
            message,
          })),
      ),
    );

/** A server chooses the members of its objects, so a member says nothing about whose object it is. */
export const membersDecideNothing: Rule = (files) => {
  const violations: Violation[] = [];
  for (const file of files.filter(({ path }) => isProduct(path))) {
    for (const match of file.code.matchAll(/'( +)' in |\['( +)'\] [=!]==? (?:true|false)\b/g)) {
      const [text, tested, compared] = match;
      const start = match.index + text.indexOf("'") + 1;
      const member = file.text.slice(start, start + (tested ?? compared ?? '').length);
      const allowed = tested === undefined ? COMPARED_MEMBERS : DECIDING_MEMBERS;
      if (allowed.includes(member)) continue;
      const message = `'${member}' may be in an object of a server: use a mark (src/kube/meta-shape.ts), a class, or list it`;
      violations.push({ path: file.path, line: lineAt(file.text, match.index), message });
    }
  }
  return violations;
};

/** Files of more lines than a limit, the longest first. */
export function filesLongerThan(limit: number, files: readonly SourceFile[]): Violation[] {
  return files
    .map(({ path, text }) => ({ path, lines: text.replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > limit)
    .toSorted((a, b) => b.lines - a.lines)
    .map(({ path, lines }) => ({
      path,
      line: limit + 1,
      message: `${lines} lines, at most ${limit}: split it`,
    }));
}

export const filesAreShort: Rule = (files) => filesLongerThan(FILE_LINES_MAX, files);

export const functionsAreShort: Rule = (files) =>
  files.flatMap((file) =>
    functionsOf(file)
      .filter(({ lines }) => lines > FUNCTION_LINES_MAX)
      .map(({ line, lines, head }) => {
        const message = `a function of ${lines} lines, at most ${FUNCTION_LINES_MAX}: ${head.slice(0, 80)}`;
        return { path: file.path, line, message };
      }),
  );

export const filesHaveAHeader: Rule = (files) =>
  files.flatMap(({ path, text, comments }) => {
    const start = text.startsWith('#!') ? text.indexOf('\n') + 1 : 0;
    const isComment = text.startsWith('/*', start) || text.startsWith('//', start);
    const end = text.startsWith('/*', start) ? text.indexOf('*/', start) : text.indexOf('\n', start);
    const words = comments.slice(start, end).match(/\p{L}+/gu) ?? [];
    if (isComment && words.length >= 3) return [];
    return [{ path, line: 1, message: 'begin with a comment that says what this file is and why' }];
  });

export const namesSaySomething: Rule = (files) =>
  files.flatMap(({ path }) => {
    const banned = path.split(/[/.-]/).find((word) => BANNED_NAMES.includes(word));
    if (banned === undefined) return [];
    return [{ path, line: 1, message: `'${banned}' says nothing: name it after the concept that it holds` }];
  });

export const everythingIsReachable: Rule = (files) => {
  const product = files.filter(({ path }) => isProduct(path));
  const graph = new ImportGraph(product);
  const workers = product.map(({ path }) => path).filter((path) => path.startsWith('workers/'));
  const missing = ENTRY_POINTS.filter((entry) => !graph.has(entry));
  const reached = graph.reachableFrom([...ENTRY_POINTS, ...workers]);
  return [
    ...missing.map((path) => ({ path, line: 1, message: 'this entry point does not exist' })),
    ...product
      .filter(({ path }) => !reached.has(path))
      .map(({ path }) => ({ path, line: 1, message: `no entry point imports it: use it or delete it` })),
  ];
};

const SWITCHED_OFF = [
  /\.(?:only|skip|todo)\(/g,
  // As an option of a test, on the line that begins it.
  /\b(?:test|it|describe|suite)\(.*\b(?:only|skip|todo): /g,
];

export const nothingIsSwitchedOff: Rule = (files) => {
  const violations: Violation[] = [];
  for (const file of files) {
    for (const match of file.comments.matchAll(/\b(?:TODO|FIXME)\b/g)) {
      const message = `${match[0]}: do it now, or write down elsewhere that it will not be done`;
      violations.push({ path: file.path, line: lineAt(file.text, match.index), message });
    }
    if (!file.path.startsWith('test/')) continue;
    for (const match of SWITCHED_OFF.flatMap((pattern) => [...file.code.matchAll(pattern)])) {
      const message = `a test that does not run, or keeps others from running: ${match[0].trim().slice(0, 60)}`;
      violations.push({ path: file.path, line: lineAt(file.text, match.index), message });
    }
  }
  return violations;
};

const LITERAL = /(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/.source;
/** The message after a code, or after a name that tells its part; it may be joined of several literals. */
const MESSAGE = new RegExp(
  `(?:'ERR_KUBELOOM_\\w+',\\s*|\\bconst message(?:: string)? =\\s*)(${LITERAL}(?:\\s*\\+\\s*${LITERAL})*)`,
  'g',
);
/** Names at the beginning of a message: abbreviations, methods of HTTP, kinds. */
const NAME = /^(?:[A-Z]{2}|Pods\b|Widgets\b)/;

/** CONTRIBUTING.md has the form. Messages in variables of other names are not seen. */
export const messagesHaveOneForm: Rule = (files) =>
  files
    .filter(({ path, text }) => isProduct(path) && text.includes('KubeloomError'))
    .flatMap(({ path, text }) =>
      Array.from(text.matchAll(MESSAGE), ({ index, 1: literals = '' }) => {
        const message = literals.slice(1, -1);
        const faults = [
          /^[A-Z]/.test(message) && !NAME.test(message) ? 'begins in upper case' : '',
          /[^\\.]\.$/.test(message) ? 'ends with a full stop' : '',
          message.includes('\\n') ? 'has several lines' : '',
        ].filter((fault) => fault !== '');
        return { path, line: lineAt(text, index), message: `the message ${faults.join(', ')}`, faults };
      }).filter(({ faults }) => faults.length > 0),
    );

export interface Import {
  readonly line: number;
  /** The imported file's path from the repository's root. */
  readonly target: string;
}

/** `from '…'`, `import '…'`, `import('…')`, and `new URL('…', …)`, which is how threads are started. */
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*'( *)'/g;

/** The relative imports of a file, types included. */
export function importsOf(file: SourceFile): Import[] {
  const imports: Import[] = [];
  for (const match of file.code.matchAll(SPECIFIER)) {
    const end = match.index + match[0].length - 1;
    const specifier = file.text.slice(end - (match[1] ?? '').length, end);
    if (!specifier.startsWith('.')) continue;
    const target = path.posix.join(path.posix.dirname(file.path), specifier).replace(/\.js$/, '.ts');
    imports.push({ line: lineAt(file.text, end), target });
  }
  return imports;
}

export class ImportGraph {
  readonly #imports: ReadonlyMap<string, readonly Import[]>;

  constructor(files: readonly SourceFile[]) {
    this.#imports = new Map(files.map((file) => [file.path, importsOf(file)]));
  }

  has(file: string): boolean {
    return this.#imports.has(file);
  }

  importsOf(file: string): readonly Import[] {
    return this.#imports.get(file) ?? [];
  }

  /** The given files and all that they import, directly or not. */
  reachableFrom(entries: readonly string[]): ReadonlySet<string> {
    const reached = new Set<string>(entries.filter((entry) => this.has(entry)));
    for (const file of reached) {
      for (const { target } of this.importsOf(file)) if (this.has(target)) reached.add(target);
    }
    return reached;
  }

  /** The shortest way from a file back to itself, starting with the given import. */
  cycleThrough(file: string, first: Import): readonly string[] | undefined {
    const cameFrom = new Map<string, string>([[first.target, file]]);
    for (const at of cameFrom.keys()) {
      if (at === file) break;
      for (const { target } of this.importsOf(at)) if (!cameFrom.has(target)) cameFrom.set(target, at);
    }
    if (!cameFrom.has(file)) return undefined;
    const way = [file];
    do way.unshift(cameFrom.get(way[0] ?? '') ?? '');
    while (way[0] !== file);
    return way;
  }
}
