/** The links of documents: of Markdown, and of HTML pages. */

const FENCES = /^ *(```|~~~)[^]*?^ *\1/gm;
const INLINE_CODE = /`[^`\n]*`/g;
/** `[text](target)` and `![text](target)`, or `href="target"` and `src="target"`. */
const LINK = /\]\(\s*<?([^\s)>]+)[^)]*\)|\b(?:href|src)="([^"]+)"/g;
const ABSOLUTE = /^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i;

/** Returns the paths of all links to other files, without their anchors. */
export function relativeLinks(text: string): string[] {
  const prose = text.replace(FENCES, '').replace(INLINE_CODE, '');
  return Array.from(prose.matchAll(LINK), ([, markdown, html]) => markdown ?? html ?? '')
    .filter((target) => !ABSOLUTE.test(target))
    .map((target) => decodeURIComponent(target.replace(/[#?].*$/, '')));
}
