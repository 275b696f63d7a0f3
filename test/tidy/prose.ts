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
    return proseViolations(path, title).map((violation) => ({
      ...violation,
      line: lineAt(text, match.index),
    }));
  }).flat();
}

const DOCSTRING_START = /\/\*\*\s*(?:\*\s*)?/g;

function beginnings({ path, text, comments }: SourceFile): Violation[] {
  return Array.from(comments.matchAll(DOCSTRING_START), (match) => {
    const start = match.index + match[0].length;
    const word = BEGINNING.exec(comments.slice(start, start + 10))?.[0];
    if (word === undefined) return [];
    const message = `a docstring begins with a noun or a verb in the third person, not with '${word}'`;
    return [{ path, line: lineAt(text, start), message }];
  }).flat();
}

/** Words that stand for a noun or a verb: how many a room may contain in a thousand words of comment. */
const RATIONED = {
  has: /\bhas\b/gi,
  one: /\bones?\b/gi,
  its: /\bits\b/gi,
  nothing: /\bnothing\b/gi,
} as const;

/** Forms that a comment never needs: `the same` without a noun, and an adverb that hangs at the end of a sentence. */
const AVOIDED = {
  nounless: /\bthe same(?=\s*[.,;:)])|\banother one\b/gi,
  hanging: /\b(?:then|there|too|beside|meanwhile|anew)(?=\s*[.;])/gi,
} as const;

/** Occurrences a thousand words of the first four, and plain counts of the last two. */
interface ProseCounts {
  readonly has: number;
  readonly one: number;
  readonly its: number;
  readonly nothing: number;
  readonly nounless: number;
  readonly hanging: number;
}

const COMMENT_BLOCK = /\/\*[^]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/g;

/** Returns the sentences of a file's comments: each comment in one line, code blanked, with a full stop at the end. */
export function sentencesOf(comments: string): string[] {
  return Array.from(comments.matchAll(COMMENT_BLOCK), ([comment]) =>
    `${comment.replaceAll(/^[ \t]*(?:\/\*+|\*+\/|\*|\/\/)|\*+\/$/gm, ' ')} `
      .replaceAll(/`[^`]*`/g, ' x ')
      .replaceAll(/\s+/g, ' ')
      .trim()
      .replace(/[.:;]?$/, '.'),
  );
}

/** The room of `src` that a file belongs to: `src/shared`, `src/tools/cli`, `workers`; undefined for other files. */
export function roomOf(path: string): string | undefined {
  return /^(?:src\/(?:tools\/)?[^/.]+(?=\/)|src(?=\/)|workers(?=\/))/.exec(path)?.[0];
}

/** Counts the rationed words and the avoided forms of every room. */
function proseCounts(files: readonly SourceFile[]): Map<string, ProseCounts> {
  const texts = new Map<string, string[]>();
  for (const { path, comments } of files) {
    const room = roomOf(path);
    if (room !== undefined) texts.set(room, [...(texts.get(room) ?? []), ...sentencesOf(comments)]);
  }
  return new Map(Array.from(texts, ([room, sentences]) => [room, countsOf(sentences.join('\n'))]));
}

function countsOf(text: string): ProseCounts {
  const words = countOf(text, /[a-z][\w'-]*/gi);
  const perThousand = (pattern: RegExp): number => (1000 * countOf(text, pattern)) / Math.max(words, 1);
  return {
    has: perThousand(RATIONED.has),
    one: perThousand(RATIONED.one),
    its: perThousand(RATIONED.its),
    nothing: perThousand(RATIONED.nothing),
    nounless: countOf(text, AVOIDED.nounless),
    hanging: countOf(text, AVOIDED.hanging),
  };
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** Limits for the comments of each room, about twice client-go's rates. */
const PROSE_GOAL: ProseCounts = { has: 6, one: 5, its: 4, nothing: 1, nounless: 0, hanging: 0 };

/** The comments of every room meet the goal. */
export function roomsMeetGoal(files: readonly SourceFile[]): Violation[] {
  return Array.from(proseCounts(files), ([room, counts]) =>
    COUNTED.filter((word) => counts[word] > PROSE_GOAL[word]).map((word) => ({
      path: room,
      line: 0,
      message: `'${word}' ${counts[word].toFixed(1)} of ${PROSE_GOAL[word]}: repeat the noun or use the field's verb (CONTRIBUTING, Prose)`,
    })),
  ).flat();
}

const COUNTED = ['has', 'one', 'its', 'nothing', 'nounless', 'hanging'] as const;
