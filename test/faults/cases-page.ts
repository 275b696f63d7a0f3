/** The page of the site with every case of faults, made from the cases. */
import { CASES } from './cases.ts';

const HEAD = `# Cases of faults

What \`npm run faults\` runs ([reliability](/reliability.md)). Codes are without \`ERR_KUBELOOM_\`; where there is no code, nothing may be reported.

| case | what | expected | codes |
|---|---|---|---|
`;

export function casesPage(): string {
  const rows = CASES.map(({ id, what, expected, codes = [] }) => {
    const named = codes.map((code) => `\`${code.replace('ERR_KUBELOOM_', '')}\``).join(' ');
    return `| ${id} | ${cell(what)} | ${cell(expected)} | ${named} |\n`;
  });
  return HEAD + rows.join('');
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`);
