/**
 * Parses JSON text from servers, objects, files, plugins and other threads. The error of JSON.parse quotes the text around
 * the fault, which may be a Secret, so there is none.
 *
 * @param reviver as for JSON.parse
 * @returns undefined when the text is not JSON
 */
export function parseJson(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, reviver) as unknown;
  } catch {
    return undefined;
  }
}
