/**
 * Reads a workload file: YAML, checked with the published JSON Schema and then for contradictions. Every problem names
 * file, line, column and path, and the expected value. (The package `yaml` keeps the lines of values; js-yaml, which
 * client-node brings, does not.)
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { LineCounter, isMap, isNode, isScalar, isSeq, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { KubeloomError, firstLineOf } from '../../../base/errors.ts';
import { nearest } from '../../../base/option-checks.ts';
import { parseJson } from '../../../base/parse-json.ts';
import { toWorkload } from './to-workload.ts';
import type { Path, Problem } from './to-workload.ts';
import type { WorkloadFile } from './workload-file.ts';
import { contentOf } from './yaml-content.ts';
import type { WatcherClient, Workload } from './workload.ts';

/** A workload, and the file that repeats the run. */
export interface ReadWorkload {
  readonly workload: Workload;
  /** The file with all comments, and with the seed in use. */
  readonly yaml: string;
}

/** Values that replace the file's values. */
export interface Overrides {
  readonly seed?: number | undefined;
  /** The client of all watchers. */
  readonly client?: WatcherClient | undefined;
}

/**
 * @param file the name in messages, and the default name of the workload
 * @param randomSeed the seed of a workload that names no seed
 * @throws ERR_KUBELOOM_WORKLOAD: `w.yaml:12:5 phases[0].steady.for: expected a duration such as 30s, got "30 s"`
 */
export function readWorkload(
  text: string,
  file: string,
  { seed, client }: Overrides,
  randomSeed: number,
): ReadWorkload {
  const lines = new LineCounter();
  const document = parsedDocument(text, file, lines);
  const [broken] = document.errors;
  if (broken) throw failure(file, lines, broken.pos[0], broken.message);
  check(file, document, lines);
  const watchers: unknown = document.get('watchers');
  for (const group of client !== undefined && isSeq(watchers) ? watchers.items : []) {
    if (isMap(group)) group.set('client', client);
  }
  const content = check(file, document, lines);
  const used = seed ?? content.seed ?? randomSeed;
  const { workload, problems } = toWorkload({ name: file, ...content, seed: used });
  if (problems.length > 0) throw problemsAt(file, document, lines, problems);
  document.set('seed', used);
  return { workload, yaml: document.toString() };
}

function parsedDocument(text: string, file: string, lines: LineCounter): Document {
  try {
    return parseDocument(text, { lineCounter: lines, prettyErrors: false });
  } catch (error) {
    // Nesting too deep for the stack of the parser.
    throw failure(file, lines, 0, firstLineOf(error));
  }
}

/** Returns the content of the file with defaults. */
function check(file: string, document: Document, lines: LineCounter): WorkloadFile {
  const data = contentOf(document, (reason) => failure(file, lines, 0, reason));
  if (isWorkloadFile(data)) return data as WorkloadFile;
  throw problemsAt(file, document, lines, schemaProblems(isWorkloadFile.errors ?? []));
}

const { resolve } = createRequire(import.meta.url);

interface Subschema {
  readonly properties?: object;
  readonly $ref?: string;
}

const SCHEMA = parseJson(readFileSync(resolve('kubeloom/workload.schema.json'), 'utf8')) as {
  readonly $defs: Readonly<Record<string, Subschema>>;
};

const isWorkloadFile: ValidateFunction = new Ajv2020({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  strictTypes: false,
  allowUnionTypes: true,
}).compile(SCHEMA);

/** Returns a single problem for each place: the first is the plainest. */
function schemaProblems(errors: readonly ErrorObject[]): Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of errors) {
    const path = pathOf(error.instancePath);
    const unknown: unknown = error.params['additionalProperty'] ?? error.params['unevaluatedProperty'];
    const problem =
      typeof unknown === 'string'
        ? { path: [...path, unknown], isName: true, message: unknownText(unknown, error) }
        : { path, message: expectedText(error) };
    const place = JSON.stringify(problem.path);
    if (!problems.has(place)) problems.set(place, problem);
  }
  return [...problems.values()];
}

function expectedText({ keyword, params, parentSchema, data }: ErrorObject): string {
  const { description = 'a workload' } = (parentSchema ?? {}) as { description?: string };
  if (keyword === 'required')
    return `${params['missingProperty'] as string} is missing; expected ${description}`;
  return `expected ${description}, got ${shortened(JSON.stringify(data))}`;
}

const GOT_CHARACTERS_MAX = 200;

function shortened(text: string): string {
  return text.length > GOT_CHARACTERS_MAX ? `${text.slice(0, GOT_CHARACTERS_MAX)}…` : text;
}

function unknownText(name: string, { parentSchema, data }: ErrorObject): string {
  const { properties = {}, $ref = '' } = (parentSchema ?? {}) as Subschema;
  const shared = SCHEMA.$defs[$ref.slice($ref.lastIndexOf('/') + 1)]?.properties;
  const known = Object.keys({ ...properties, ...shared });
  const meant = nearest(
    name,
    known.filter((each) => !Object.hasOwn(data as object, each)),
  );
  const advice = meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`;
  return `there is no ${JSON.stringify(name)}: ${advice}`;
}

function pathOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')));
}

const SHOWN_MAX = 5;

function problemsAt(
  file: string,
  document: Document,
  lines: LineCounter,
  problems: readonly Problem[],
): KubeloomError {
  const placed = problems.map(({ path, isName = false, message }) => {
    const { line, col } = lines.linePos(offsetOf(document, path, isName));
    const where = path.length === 0 ? '' : `${pathText(path)}: `;
    return { line, col, text: `${where}${message}` };
  });
  placed.sort((one, other) => one.line - other.line || one.col - other.col);
  const [first, ...others] = placed.slice(0, SHOWN_MAX);
  const more = others.map(({ line, col, text }) => `; ${line}:${col} ${text}`).join('');
  const rest = problems.length > SHOWN_MAX ? `; and ${problems.length - SHOWN_MAX} more` : '';
  const text = `${file}:${first?.line}:${first?.col} ${first?.text}${more}${rest}`;
  return new KubeloomError('ERR_KUBELOOM_WORKLOAD', text);
}

function failure(file: string, lines: LineCounter, offset: number, message: string): KubeloomError {
  const { line, col } = lines.linePos(offset);
  return new KubeloomError('ERR_KUBELOOM_WORKLOAD', `${file}:${line}:${col} ${message}`);
}

/** phases[0].steady.for */
function pathText(path: Path): string {
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${part}`))
    .join('');
}

/** Returns the offset of the value or of the member's name; for a value without an offset, of the enclosing value. */
function offsetOf(document: Document, path: Path, isName: boolean): number {
  const parent: unknown = isName ? document.getIn(path.slice(0, -1), true) : undefined;
  const pair = isMap(parent)
    ? parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))
    : undefined;
  const node: unknown = pair?.key ?? document.getIn(path, true);
  if (isNode(node) && node.range) return node.range[0];
  return path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1), false);
}
