/** The configuration of VitePress: navigation, search on the page itself, and nothing from elsewhere. */
import { API_PAGE, SECTIONS, placeOf } from './navigation.ts';
import type { Page } from './navigation.ts';
import type { Entry } from './reference.ts';

interface Item {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly Item[];
  readonly collapsed?: boolean;
}

/** HTML in a document is text, and the colours of code have the contrast of other text. */
const MARKDOWN = {
  html: false,
  theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
};

const itemOf = ({ path, title }: Page): Item => ({ text: title, link: `/${placeOf(path)}` });

function sidebar(entries: readonly Entry[]): Item[] {
  const api = entries.map(({ name, file }) => ({ text: name, link: `/api/${file}.md` }));
  return SECTIONS.map(({ title, pages }) => ({
    text: title,
    collapsed: title === 'Decisions',
    items: pages.map((page) =>
      page.path === API_PAGE ? { ...itemOf(page), items: api, collapsed: true } : itemOf(page),
    ),
  }));
}

/** Returns the text of `.vitepress/config.mjs`. */
export function configText(description: string, outDir: string, entries: readonly Entry[]): string {
  const themeConfig = {
    sidebar: sidebar(entries),
    search: { provider: 'local' },
    outline: [2, 3],
    docFooter: { prev: false, next: false },
    externalLinkIcon: true,
  };
  const config = {
    lang: 'en',
    title: 'kubeloom',
    description,
    outDir,
    srcExclude: ['public/**'],
    // No request for a picture that does not exist.
    head: [['link', { rel: 'icon', href: 'data:,' }]],
    themeConfig,
    vite: { build: { chunkSizeWarningLimit: 5000 } },
  };
  // The anchors of headings are those of GitHub, where the documents are read, too.
  return `const slugify = (text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}\\s_-]/gu, '').trim().replace(/\\s/g, '-');
export default { ...${JSON.stringify(config)}, markdown: { ...${JSON.stringify(MARKDOWN)}, anchor: { slugify } } };
`;
}
