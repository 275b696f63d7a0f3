/**
 * Plain English, as far as a program can check it: how a comment begins, and words that hide the actor. The rules for
 * the rest are in CONTRIBUTING.md.
 */
import { lineAt } from './source-file.ts';
import type { SourceFile } from './source-file.ts';
import type { Violation } from './rules.ts';

/** Words that leave the actor to be guessed. A sentence names the handler, the thread, the caller. */
const HIDDEN_ACTORS = /\b(?:nobody|somebody|everybody|anybody|whoever|whomever|told|lent)\b/gi;
/** A docstring begins with a noun (a value) or a verb in the third person (a function). */
const BEGINNING = /^(?:Of|What|Who|Whoever|Whose|That|So)\b/;

/** The violations in a text without code, for example a document; `path` and line are where it stands. */
export function proseViolations(path: string, text: string): Violation[] {
  return Array.from(text.matchAll(HIDDEN_ACTORS), (match) => ({
    path,
    line: lineAt(text, match.index),
    message: `'${match[0]}' hides the actor: name who does it, with the field's verb`,
  }));
}

/** Returns a document whose code, fenced or within a sentence, is blank; lines stay where they are. */
export function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^ *```[^]*?^ *```$|`[^`\n]*`/gm, (code) => code.replaceAll(/[^\n]/g, ' '));
}

/** Comments and the titles of tests are in plain English. */
export function plainEnglish(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => [
    ...proseViolations(file.path, file.comments),
    ...titleViolations(file),
    ...beginnings(file),
  ]);
}

const TITLE = /\b(?:test|it|describe|table)\(\s*(['"`])/g;

function titleViolations({ path, text, code }: SourceFile): Violation[] {
  return Array.from(code.matchAll(TITLE), (match) => {
    const start = match.index + match[0].length;
    const title = text.slice(start, text.indexOf(match[1] ?? "'", start));
    const line = lineAt(text, match.index);
    return proseViolations(path, title).map((violation) => ({ ...violation, line }));
  }).flat();
}

const COMMENT_START = /\/\*\*\s*(?:\*\s*)?|(?<=^\s*)\/\/ (?!.*\n\s*\/\/)/gm;

function beginnings({ path, text, comments }: SourceFile): Violation[] {
  return Array.from(comments.matchAll(COMMENT_START), (match) => {
    const start = match.index + match[0].length;
    const word = BEGINNING.exec(comments.slice(start, start + 10))?.[0];
    if (word === undefined || !match[0].startsWith('/**')) return [];
    const message = `a docstring begins with a noun or a verb in the third person, not with '${word}'`;
    return [{ path, line: lineAt(text, start), message }];
  }).flat();
}
