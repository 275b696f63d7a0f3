/** The page of the site with every case of faults, made from the cases. */
import { CASES as SIMULATED } from '../sim/faults/cases.ts';
import { CASES as REAL } from './cases.ts';

const HEAD = `# Cases of faults

What the simulator and \`npm run suite -- faults\` run ([reliability](/reliability.md)). The codes omit the prefix \`ERR_KUBELOOM_\`. If a row names no code, the informer may report no error.

| case | what | expected | codes | proven in |
|---|---|---|---|---|
`;

const numberOf = ({ id }: { readonly id: string }): number => Number.parseInt(id, 10);

/** Every case in the order of the table, with the place of its proof. */
export const ALL_CASES = [...SIMULATED.map((fault) => ({ ...fault, place: 'simulator' })), ...REAL].sort(
  (a, b) => numberOf(a) - numberOf(b) || (a.id < b.id ? -1 : 1),
);

export function casesPage(): string {
  const rows = ALL_CASES.map(({ id, what, expected, codes = [], place }) => {
    const named = codes.map((code) => `\`${code.replace('ERR_KUBELOOM_', '')}\``).join(' ');
    return `| ${id} | ${cell(what)} | ${cell(expected)} | ${named} | ${place} |\n`;
  });
  return HEAD + rows.join('');
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`);
