/** The text of docs/errors.md, made from the table of the codes. */
import { ERROR_GROUPS } from '../../../src/base/error-codes/error-table.ts';
import type { ErrorGroup, ErrorPlace } from '../../../src/base/error-codes/error-table.ts';

const HEAD = `# Errors

Every error of kubeloom is a \`KubeloomError\` with a stable \`code\`; messages may change between releases. TypeScript knows
the codes as \`ErrorCode\`.

\`\`\`ts
import { KubeloomError } from 'kubeloom';

export function isGone(error: unknown): boolean {
  return error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_NOT_FOUND';
}
\`\`\`

An error appears in one or several of these places. What \`onError\` of an informer would receive becomes a warning of the
process with the same code when there is no \`onError\`, at most once a second for each code.

| place | meaning |
|---|---|
| thrown | a call throws it, or its promise is rejected with it |
| onError | \`onError\` receives it, and the informer goes on if it can |
| health | it is the last error in the health of the informer, while lists or watches fail |
| warning | Node emits it as a \`KubeloomWarning\` |
| exit | a command prints it and ends with exit code 1 |

This page is made by \`npm run suite -- errors\` from \`src/base/error-codes\`.
`;

export function errorsPage(): string {
  return [HEAD, ...ERROR_GROUPS.map(groupText)].join('\n');
}

function groupText({ title, errors }: ErrorGroup): string {
  const rows = Object.entries(errors).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `## ${title}\n\n${rows.map(([code, row]) => entryText(code, ...row)).join('\n')}`;
}

function entryText(code: string, places: readonly ErrorPlace[], when: string, remedy: string): string {
  return `### ${code}\n\n${when}\n\n*Remedy:* ${remedy}\n\n*Where:* ${places.join(', ')}\n`;
}
