/**
 * Which clauses of docs/contract.md speak of the server: their tests also run against a real one. What the others
 * speak of happens in this process, or is what no real server can be brought to say.
 */

/** Every one of them is cited by a test of contract.e2e.ts. */
export const OF_THE_SERVER: readonly string[] = [
  ['C1', 'C2', 'C3', 'C4', 'C7', 'C24', 'C25', 'C26', 'C27', 'C31', 'C43'],
  ['C9', 'C10', 'C11', 'C12', 'C14', 'C15', 'C29', 'C41', 'C42', 'C46'],
  ['C17', 'C51', 'C52', 'C18', 'C53', 'C54', 'C60', 'C69'],
  ['C78', 'C80', 'C81', 'C82', 'C83', 'C84', 'C85', 'C86', 'C87', 'C88', 'C90'],
  ['C113', 'C144'],
].flat();

/** `C93` to `C111`. */
function from(first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `C${first + index}`);
}

const IN_THIS_PROCESS = 'speaks of what happens between cache, handlers and threads';

const reasons: readonly (readonly [reason: string, clauses: readonly string[]])[] = [
  [IN_THIS_PROCESS, ['C5', 'C6', 'C8', 'C13', 'C16', 'C19', 'C20', 'C21', 'C22', 'C28', 'C30', 'C32', 'C33']],
  [IN_THIS_PROCESS, ['C34', 'C35', 'C36', 'C37', 'C38', 'C39', 'C40', 'C44', 'C45', 'C48', 'C49', 'C50']],
  [
    IN_THIS_PROCESS,
    ['C55', 'C56', 'C57', 'C58', 'C59', 'C61', 'C62', 'C63', 'C64', 'C65', 'C66', 'C67', 'C68'],
  ],
  [IN_THIS_PROCESS, ['C73', 'C74', 'C75', 'C76', 'C77']],
  [
    'no real server deletes what was not there, nor sends what is malformed',
    ['C23', 'C47', 'C70', 'C71', 'C72'],
  ],
  ['every real server of these tests streams lists', ['C79']],
  ['its bound, one second, is that of the shortest watch that a server can be asked for', ['C89']],
  ['a server that nobody overloads asks for no patience', ['C91']],
  ['a silence takes minutes to be one', ['C92']],
  ['speaks of a layer by itself, without a server', [...from(93, 111), ...from(122, 130), ...from(150, 154)]],
  ['no real server can be made to fail so', ['C112', 'C116', 'C117', 'C121', 'C170', 'C172', 'C200']],
  ['a matter of credentials, time or memory on our side', ['C114', 'C115', 'C119', 'C120', 'C171']],
  ['speaks of a source that is no server', [...from(131, 136)]],
  [IN_THIS_PROCESS, [...from(137, 143), ...from(145, 149), 'C155']],
  ['speaks of factories; what of it is the server’s is in resources.e2e.ts', from(156, 162)],
  [IN_THIS_PROCESS, from(163, 169)],
  [IN_THIS_PROCESS, from(173, 178)],
  [IN_THIS_PROCESS, [...from(179, 181), 'C189', 'C193', 'C196', 'C197', 'C203']],
  [
    'a matter of credentials, trust and files on our side',
    [...from(184, 188), 'C182', 'C194', 'C195', 'C201'],
  ],
  [
    'no real server can be made to answer so, nor to show what else we might have sent',
    ['C183', ...from(190, 192)],
  ],
];

/** Why not the others: by clause. */
export const NOT_OF_THE_SERVER: ReadonlyMap<string, string> = new Map(
  reasons.flatMap(([reason, clauses]) => clauses.map((clause) => [clause, reason] as const)),
);
