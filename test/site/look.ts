/** Scripts that look at a page from inside: its links, whether it is too wide, and text that is too faint to read. */

export interface Links {
  /** Absolute addresses. */
  readonly links: readonly string[];
  /** The places to which an anchor can lead. */
  readonly ids: readonly string[];
}

export const LINKS = `({
  links: [...new Set([...document.querySelectorAll('a[href]')].map(({ href }) => href))],
  ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
})`;

/** The widths of page and window if the page is wider. */
export const WIDTH = `document.documentElement.scrollWidth > innerWidth
  ? [document.documentElement.scrollWidth + ' pixels in a window of ' + innerWidth]
  : []`;

/** Text with a contrast below 4.5, or below 3 if it is large: each pair of colours once. Waits for the colours of the scheme. */
export const FAINT = `(async () => {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const root = document.documentElement;
  const until = async (holds) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await until(() => root.classList.contains('dark') === isDark);
  const rgba = (text) => {
    const [red, green, blue, opacity = 1] = text.match(/[\\d.]+/g).map(Number);
    const scale = text.startsWith('color(') ? 255 : 1;
    return [red * scale, green * scale, blue * scale, opacity];
  };
  const over = ([r, g, b, a], [red, green, blue]) => [r * a + red * (1 - a), g * a + green * (1 - a), b * a + blue * (1 - a)];
  const grounds = new Map();
  const groundOf = (element) => {
    if (element === null) return [255, 255, 255];
    if (grounds.has(element)) return grounds.get(element);
    const ground = over(rgba(getComputedStyle(element).backgroundColor), groundOf(element.parentElement));
    grounds.set(element, ground);
    return ground;
  };
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const faint = new Map();
  const seen = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (seen.has(element) || texts.currentNode.data.trim() === '') continue;
    seen.add(element);
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const ground = groundOf(element);
    const [bright, dim] = [luminance(over(rgba(color), ground)), luminance(ground)].sort((a, b) => b - a);
    const contrast = (bright + 0.05) / (dim + 0.05);
    const size = parseFloat(fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
    if (contrast >= (isLarge ? 3 : 4.5)) continue;
    const colours = color + ' on ' + ground.map(Math.round).join();
    faint.set(colours, colours + ', ' + contrast.toFixed(2) + ': ' + texts.currentNode.data.trim().slice(0, 40) + ' (' + element.className + ')');
  }
  return [...faint.values()];
})()`;
