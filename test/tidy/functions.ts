/**
 * Finds functions and their lengths in formatted code: there the body of a function that is longer
 * than a line ends at the first line that is indented like the one that opens it and starts with a bracket.
 */
import type { SourceFile } from './source-file.ts';

export interface FunctionSize {
  /** The line of its head, counted from 1. */
  readonly line: number;
  /** From the first line of its head to its closing bracket. */
  readonly lines: number;
  readonly head: string;
}

const HEAD_TAIL = /^(?:[)>\]]|\}:|\}\)|\} \{)/;
const FUNCTION = /\bfunction\b.*\)(?:: .+)? \{$/;
const ARROW_WITH_BODY = /=> \{$/;
/** A name and parameters with nothing between; after `if`, `for` and the like there is a space. */
const METHOD =
  /^(?:(?:static|override|async|get|set|public|private|protected) )*\*?[#\w$[\].]+(?:<.*>)?\(.*\)(?:: .+)? \{$/;
/** A group of tests, which is no logic; neither is a function that begins with one. */
const GROUP_OF_TESTS = /^(?:describe|suite)\(/;

export function functionsOf(file: SourceFile): FunctionSize[] {
  const lines = file.code.split('\n');
  const functions: FunctionSize[] = [];
  for (const [index, line] of lines.entries()) {
    if (!/(?:[{([]|=>)$/.test(line)) continue;
    const first = headStart(lines, index);
    const head = lines
      .slice(first, index + 1)
      .map((part) => part.trim())
      .join(' ');
    const firstOfBody = lines[index + 1]?.trim() ?? '';
    if (!isFunctionHead(head) || GROUP_OF_TESTS.test(head) || GROUP_OF_TESTS.test(firstOfBody)) continue;
    functions.push({ line: first + 1, lines: bodyEnd(lines, index) - first + 1, head });
  }
  return functions;
}

/** A head may be spread over lines: its last one then starts with the bracket that ends the parameters. */
function headStart(lines: readonly string[], index: number): number {
  const indent = indentOf(lines[index] ?? '');
  let first = index;
  while (first > 0 && isTailOfHead(lines[first] ?? '', indent)) {
    do first--;
    while (first > 0 && (isBlank(lines[first] ?? '') || indentOf(lines[first] ?? '') > indent));
  }
  return first;
}

function isTailOfHead(line: string, indent: number): boolean {
  return indentOf(line) === indent && HEAD_TAIL.test(line.trim());
}

function bodyEnd(lines: readonly string[], index: number): number {
  const indent = indentOf(lines[index] ?? '');
  const isBare = (lines[index] ?? '').endsWith('=>');
  for (let end = index + 1; end < lines.length; end++) {
    const line = lines[end] ?? '';
    if (isBlank(line) || indentOf(line) > indent) continue;
    // An expression without its own brackets ends before the first line that is not indented more than its head.
    if (isBare) return end - 1;
    if (indentOf(line) === indent && /^[})\]]/.test(line.trim())) return end;
  }
  return lines.length - 1;
}

function isFunctionHead(head: string): boolean {
  return (
    FUNCTION.test(head) || ARROW_WITH_BODY.test(head) || METHOD.test(head) || isArrowWithExpression(head)
  );
}

/** `(a) =>`, `(a) => ({`, `(a) => call(`: the open bracket, if any, began after the arrow. */
function isArrowWithExpression(head: string): boolean {
  const arrow = head.lastIndexOf('=>');
  if (arrow < 0) return false;
  if (head.endsWith('=>')) return true;
  let depth = 0;
  for (const character of head.slice(arrow + 2)) {
    if (/[({[]/.test(character)) depth++;
    if (/[)}\]]/.test(character)) depth--;
    // An argument list or a closing bracket: the arrow function ends before the head.
    if (depth < 0 || (depth === 0 && /[,;]/.test(character))) return false;
  }
  return depth > 0;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function isBlank(line: string): boolean {
  return line.trim() === '';
}
