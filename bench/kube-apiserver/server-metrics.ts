/** Metrics of a server in the text format of Prometheus. */

/** Returns the sum of the metric's series with these labels; 0 where the server has none. */
export function sumOfMetric(text: string, metric: string, ...labels: readonly string[]): number {
  let total = 0;
  for (const line of text.split('\n')) {
    const isOf = line.startsWith(`${metric}{`) || line.startsWith(`${metric} `);
    if (isOf && labels.every((label) => line.includes(label))) total += Number(line.split(' ').at(-1));
  }
  return total;
}
