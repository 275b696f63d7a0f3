/** Charts as SVG, drawn by echarts without a browser. */
import { init, setPlatformAPI } from 'echarts';
import type { EChartsOption } from 'echarts';

const FONT = 'DejaVu Sans, Verdana, sans-serif';
/** Mean width of a character, relative to the height of the font. */
const CHARACTER_WIDTH = 0.57;
// Without a browser echarts takes another font's widths, and parts of the legend overlap.
setPlatformAPI({
  measureText: (text, font = '') => ({
    width: text.length * CHARACTER_WIDTH * (Number.parseFloat(/[\d.]+px/.exec(font)?.[0] ?? '') || 12),
  }),
});

/** Distinguishable for readers with red-green colour blindness (Okabe and Ito). */
export const COLOUR = { blue: '#0072b2', vermilion: '#d55e00' } as const;

/** @param width in pixels, as `height` */
export function svgOf(width: number, height: number, options: EChartsOption): string {
  const drawing = init(null, null, { renderer: 'svg', ssr: true, width, height });
  drawing.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    textStyle: { fontFamily: FONT },
    ...options,
  });
  const svg = drawing.renderToSVGString();
  drawing.dispose();
  return svg;
}
