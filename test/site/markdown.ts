/** Documents as pages of the site: links, files that a document links to, and the lines of llms.txt. Pure. */
import { posix } from 'node:path';
import { SECTIONS, placeOf } from './navigation.ts';

/** A fence, or code within a sentence: links in it are text. */
const CODE = /(^ *```[^]*?^ *```$|`[^`\n]*`)/m;
const LINK = /\]\(<?([^\s)>]+)>?((?: "[^"]*")?)\)/g;
const EXTERNAL = /^(?:[a-z][a-z\d+.-]*:|#)/i;
const COMMENT = /<!--[^]*?-->\n?/g;
const CHART = /`docs\/(benchmarks\/[\w-]+\.svg)`[,.] ?/g;

const PAGES: ReadonlySet<string> = new Set(SECTIONS.flatMap(({ pages }) => pages.map(({ path }) => path)));

/** Returns whether a browser shows or saves a file as it is; every other file becomes a page with its text. */
export const isAsset = (path: string): boolean => /\.(?:svg|png|json)$/.test(path);

export interface SitePage {
  readonly text: string;
  /** Files of the repository that the page shows or links to, and that are no documents. */
  readonly files: readonly string[];
}

/** Returns the page of the document at `path`, with the links of the site. */
export function pageOf(path: string, text: string): SitePage {
  const files = new Set<string>();
  const page = text
    .replace(COMMENT, '')
    .replace(/^Charts: .*$/m, (line) =>
      Array.from(
        line.matchAll(CHART),
        ([, chart = '']) => `![${chart}](${posix.relative(posix.dirname(path), `docs/${chart}`)})`,
      ).join('\n\n'),
    )
    .split(CODE)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replace(LINK, (_, target: string, title: string) => `](${link(target)}${title})`),
    )
    .join('');
  return { text: page, files: [...files] };

  function link(target: string): string {
    if (EXTERNAL.test(target)) return target;
    const [file = '', anchor] = target.split('#');
    const found = posix.join(posix.dirname(path), decodeURIComponent(file));
    const document = PAGES.has(found) ? found : `${found}/README.md`;
    if (PAGES.has(document)) return `/${placeOf(document)}${anchor === undefined ? '' : `#${anchor}`}`;
    files.add(found);
    return isAsset(found) ? `/${assetOf(found)}` : `/${sourceOf(found)}`;
  }
}

/** The place of a file that is served as it is. */
export function assetOf(path: string): string {
  return path.replace(/^docs\//, '');
}

/** The place of the page that shows a file. */
export function sourceOf(path: string): string {
  return `files/${path.replace(/^docs\//, '').replaceAll(/\.(?=\w+$)/g, '-')}.md`;
}

const LANGUAGES: Readonly<Record<string, string>> = { ts: 'ts', yaml: 'yaml', json: 'json', svg: 'xml' };

/** Returns a page with the text of a file. */
export function sourcePage(path: string, text: string): string {
  const name = posix.basename(path);
  const language =
    LANGUAGES[name.split('.').at(-1) ?? ''] ??
    (/^(?:Docker|Container)file$/.test(name) ? 'dockerfile' : 'text');
  return `# ${name}\n\n\`${path}\`\n\n\`\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\`\n`;
}

/** Returns a page with a link to each file of a folder. */
export function folderPage(path: string, names: readonly string[]): string {
  return pageOf(
    posix.join(path, 'index'),
    `# ${posix.basename(path)}\n\n${names.map((name) => `- [${name}](${name})\n`).join('')}`,
  ).text;
}

/** Returns the first sentence of a page without links and code marks; empty when the page begins with something else. */
export function summaryOf(text: string): string {
  const [, beginning = ''] = text.replaceAll(/^ *```[^]*?^ *```$/gm, '').split(/^# .*\n/m);
  const [paragraph = ''] = beginning.trim().split(/\n\s*\n/);
  if (!/^[*_[`\w]/.test(paragraph)) return '';
  const [sentence] = paragraph.replace('**Context.** ', '').split(/(?<=\.)\s/);
  return (sentence ?? '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`]/g, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/:$/, '.');
}

/** Returns llms.txt: the sections with their pages, each with its first sentence. */
export function llmsText(description: string, textOf: (path: string) => string): string {
  const sections = SECTIONS.map(({ title, pages }) => {
    const lines = pages.map(({ title: name, path }) =>
      `- [${name}](/${placeOf(path)}): ${summaryOf(textOf(path))}`.replace(/: $/, ''),
    );
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  return `# kubeloom\n\n> ${description}\n\n${sections.join('\n')}`;
}
