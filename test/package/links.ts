/** The links of documents to other files. */

const FENCES = /^ *(```|~~~)[^]*?^ *\1/gm;
const INLINE_CODE = /`[^`\n]*`/g;
/** `[text](target)` and `![text](target)` */
const MARKDOWN = /\]\(\s*<?([^\s)>]+)[^)]*\)/g;
const HTML = /\b(?:href|src)="([^"]+)"/g;
const ABSOLUTE = /^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i;

/** Returns the paths of all links to other files, without their anchors, also of HTML within Markdown. */
export function markdownLinks(text: string): string[] {
  const prose = text.replace(FENCES, '').replace(INLINE_CODE, '');
  return [...pathsOf(prose, MARKDOWN), ...pathsOf(prose, HTML)];
}

function pathsOf(text: string, link: RegExp): string[] {
  return Array.from(text.matchAll(link), ([, target = '']) => target)
    .filter((target) => !ABSOLUTE.test(target))
    .map((target) => decodeURIComponent(target.replace(/[#?].*$/, '')));
}
