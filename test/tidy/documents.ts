/**
 * Weight and shape of the documents: what they may add up to, and the four parts of a decision. A reader finds the
 * choice in half a page; the figures that still pay for code are in docs/decisions/figures.
 */
import type { Violation } from './rules.ts';

export interface Document {
  readonly path: string;
  readonly text: string;
}

/** Bytes of the Markdown in docs that people write; what a script writes from the code does not count. */
export const DOCS_BYTES_MAX = 334_600;
/** `docs/benchmarks.md`: what a user decides by, then the method, then the losses, without what the bench writes. */
export const BENCHMARK_LINES_MAX = 167;
/** `README.md`: what a user decides by. */
export const README_LINES_MAX = 149;
/** `CHANGELOG.md`: a page that says what a version contains. */
export const CHANGELOG_LINES_MAX = 80;
/** Half a page of prose, and a small table. */
export const DECISION_BYTES_MAX = 3200;

const DECISION = /^docs\/decisions\/\d{4}-[a-z\d-]+\.md$/;
const PARTS = ['**Context.**', '**Choice.**', '**Price.**', '**What would reverse it.**'];

/** Every decision has its four parts, and no laboratory notes. */
export function decisionsAreShort(documents: readonly Document[]): Violation[] {
  return documents
    .filter(({ path }) => DECISION.test(path))
    .flatMap(({ path, text }) => [
      ...PARTS.filter((part) => !text.includes(part)).map((part) => ({
        path,
        line: 1,
        message: `a decision has the part '${part}'`,
      })),
      ...(Buffer.byteLength(text) > DECISION_BYTES_MAX
        ? [
            {
              path,
              line: 1,
              message: `a decision has at most ${DECISION_BYTES_MAX} bytes: figures go into figures/`,
            },
          ]
        : []),
    ]);
}

/** Written by `npm run suite -- errors` and `npm run suite -- metrics`. */
const GENERATED: ReadonlySet<string> = new Set(['docs/errors.md', 'docs/metrics-table.md']);

/** Parts of pages that scripts write: the tests of clauses, and the machines and losses of benchmarks. */
const WRITTEN = /^Tests: .*\n|^<!-- (\w+): written by npm run bench [\s\S]*?^<!-- end of \1 -->\n/gm;

/** Bytes of the documents in docs, without what scripts write. */
export function bytesOf(documents: readonly Document[]): number {
  return documents
    .filter(({ path }) => path.startsWith('docs/') && !GENERATED.has(path))
    .reduce((sum, { text }) => sum + Buffer.byteLength(text.replaceAll(WRITTEN, '')), 0);
}

/** Lines of the document at `path`, which must exist, without what scripts write. */
export function linesOf(documents: readonly Document[], path: string): number {
  const document = documents.find((each) => each.path === path);
  if (document === undefined) throw new Error(`no document ${path}`);
  return document.text.replaceAll(WRITTEN, '').trimEnd().split('\n').length;
}
