/**
 * kubectl's JSONPath templates: literal text with expressions in braces, `{range …}…{end}`, and quoted text. Single paths
 * are evaluated by jsonpath-plus; here they are only translated to its notation.
 */
import { JSONPath } from 'jsonpath-plus';
import { KubeloomError } from '../base/errors.ts';

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'path'; readonly path: string }
  | { readonly type: 'range'; readonly path: string; readonly parts: readonly Part[] };

/** A compiled template: takes an object, returns its text. */
export type Template = (object: unknown) => string;

const PIECE = /\{((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^{}"'])*)\}|[^{}]+|[{}]/gy;
const QUOTED = /^(["'])(.*)\1$/s;
const RANGE = /^range\s+(.+)$/s;
/** One step of a path: a name with escaped dots, `..`, or brackets. */
const STEP = /\.\.|\.(?=\[)|\.?((?:\\.|[^.[\]\\])+)|\[((?:"[^"]*"|'[^']*'|[^\]"'])*)\]/gy;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/**
 * Compiles a template such as `{.items[*].metadata.name}` or `{range .items[*]}{.metadata.name}{"\n"}{end}`. Values that
 * are missing are empty; several are separated by blanks; objects and arrays are printed as JSON.
 *
 * @throws ERR_KUBELOOM_USAGE for a template that cannot be read
 */
export function jsonPathTemplate(template: string): Template {
  const parts = parse(template);
  return (object) => print(parts, object);
}

/**
 * Compiles a single path, with or without braces and the leading dot, as custom columns have it.
 *
 * @throws ERR_KUBELOOM_USAGE for a path that cannot be read
 */
export function jsonPathValues(path: string): (object: unknown) => readonly unknown[] {
  const translated = translate(path.replace(/^\{(.*)\}$/s, '$1'), path);
  return (object) => valuesAt(translated, object);
}

export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parse(template: string): Part[] {
  const open: { path: string; parts: Part[] }[] = [{ path: '', parts: [] }];
  for (const [piece, inner] of piecesOf(template)) {
    const current = open.at(-1);
    if (!current) throw malformed(template, '{end} without {range}');
    const expression = inner?.trim();
    const range = RANGE.exec(expression ?? '')?.[1];
    const quoted = QUOTED.exec(expression ?? '')?.[2];
    if (expression === undefined) current.parts.push({ type: 'text', text: piece });
    else if (range !== undefined) open.push({ path: translate(range, template), parts: [] });
    else if (expression === 'end') {
      open.pop();
      open.at(-1)?.parts.push({ type: 'range', ...current });
    } else if (quoted !== undefined) {
      const text = quoted.replace(/\\(.)/gs, (_, escaped: string) => ESCAPES[escaped] ?? escaped);
      current.parts.push({ type: 'text', text });
    } else current.parts.push({ type: 'path', path: translate(expression, template) });
  }
  const [root, unclosed] = open;
  if (!root) throw malformed(template, '{end} without {range}');
  if (unclosed) throw malformed(template, '{range} without {end}');
  return root.parts;
}

function* piecesOf(template: string): Generator<readonly [piece: string, inner: string | undefined]> {
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < template.length) {
    const match = PIECE.exec(template);
    const [piece = '', inner] = match ?? [];
    if (piece === '{' || piece === '}' || match === null) throw malformed(template, 'a brace is not closed');
    yield [piece, inner];
  }
}

/** Returns the path in the notation of jsonpath-plus. */
function translate(path: string, template: string): string {
  const source = path.trim().replace(/^[$@]/, '');
  let translated = '$';
  STEP.lastIndex = 0;
  while (STEP.lastIndex < source.length) {
    const match = STEP.exec(source);
    if (match === null) throw malformed(template, `${JSON.stringify(path)} is not a path`);
    const [step, name, brackets] = match;
    if (step === '..') translated += '..';
    else if (name === '*') translated += '[*]';
    else if (name !== undefined) translated += quotedName(name.replace(/\\(.)/g, '$1'));
    else if (brackets !== undefined) translated += bracketsOf(brackets.trim());
  }
  // jsonpath-plus takes a name behind `..` without brackets only.
  return translated.replace(/\.\.\['([\w-]+)'\]/g, '..$1');
}

function quotedName(name: string): string {
  return `['${name}']`;
}

function bracketsOf(inner: string): string {
  const quoted = QUOTED.exec(inner)?.[2]?.replace(/\\(.)/g, '$1');
  if (quoted !== undefined && /['"]/.test(quoted)) {
    throw malformed(`[${inner}]`, 'brackets take one name');
  }
  if (quoted !== undefined) return quotedName(quoted);
  if (/^-\d+$/.test(inner)) return `[${inner}:${inner === '-1' ? '' : Number(inner) + 1}]`;
  return inner.startsWith('?') ? `[${inner.replace(/\\(.)/g, '$1')}]` : `[${inner}]`;
}

function print(parts: readonly Part[], object: unknown): string {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      const values = valuesAt(part.path, object);
      if (part.type === 'path') return values.map(textOfValue).join(' ');
      return values.map((value) => print(part.parts, value)).join('');
    })
    .join('');
}

function valuesAt(path: string, json: unknown): readonly unknown[] {
  if (path === '$') return [json];
  if (typeof json !== 'object' || json === null) return [];
  try {
    return JSONPath<unknown[]>({ path, json, wrap: true, eval: 'safe' });
  } catch (cause) {
    throw malformed(path, cause instanceof Error ? cause.message : String(cause));
  }
}

function malformed(template: string, why: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_USAGE', `JSONPath ${JSON.stringify(template)}: ${why}`);
}
