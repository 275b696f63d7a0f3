/** Mutants of the clauses about the requests of a client. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const CLIENT_MUTANTS: readonly Mutant[] = inFiles({
  'src/controller/object-client.ts': {
    C380: ['if (fieldManager === undefined) {', 'if (false) {'],
    C384: ['if (resource.isNamespaced && !namespace)', 'if (false)'],
    C385: ["checkOptions('options of a get', options, GET_CHECKS);", ''],
  },
  'src/kube/status.ts': {
    C381: [
      "const FIELD_CONFLICT = 'FieldManagerConflict';",
      "const FIELD_CONFLICT = 'FieldManagerConflicts';",
    ],
  },
  'src/controller/requests/patches.ts': {
    C272: ['Object.values(patch).every((value) => value === undefined)', 'false'],
    C382: [
      "strategic: 'application/strategic-merge-patch+json'",
      "strategic: 'application/merge-patch+json'",
    ],
  },
  'src/controller/object-arguments.ts': { C383: ['TYPES_OF_SUBRESOURCES.get(subresource) ?? own', 'own'] },
  'src/controller/requests/repeated-read.ts': {
    C386: ['if (repetitions >= REPETITIONS_MAX || signal?.aborted)', 'if (repetitions >= 0)'],
  },
  'src/controller/requests/list-pages.ts': {
    C387: ["if (!allowInconsistent || fresh === '')", "if (fresh === '')"],
  },
  'src/controller/requests/warning-header.ts': {
    C388: ["at = all === '' ? after(header, at) : at + all.length;", 'at = header.length + all.length;'],
  },
  'src/controller/requests/exact-integers.ts': {
    C389: ['if (written === text || !sent.has(written))', 'if (true)'],
  },
  'src/controller/requests/create-or-update.ts': { C390: ['if (isEqualJson(before, object))', 'if (false)'] },
  'src/controller/requests/applied.ts': {
    C391: ['|| sizeOf(wanted) !== paths.length', ''],
    C471: ['last.owned !== now.owned', 'false'],
  },
  'src/controller/objects/conditions.ts': {
    C474: ['const patch = { metadata: { resourceVersion }, status', 'const patch = { status'],
  },
  'src/controller/objects/finalizers.ts': { C474: ["resourceVersion === '' || ", ''] },
  'src/controller/events/event-content.ts': { C475: ['text.slice(0, read)', 'text.slice(0, bytesMax)'] },
  'src/base/limited-warnings.ts': { C475: ['if (last.suppressed > 0)', 'if (false)'] },
  'src/http/api-client.ts': { C470: ["method === 'GET' ? [] : [everyFence]", '[]'] },
});
