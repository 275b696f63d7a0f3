/** Reads the content of a YAML document as plain data. Anchors, aliases and depth could make it endless. */
import type { Document } from 'yaml';
import { firstLineOf } from '../../../base/errors.ts';

/**
 * @param refused makes the error
 * @throws its error, for aliases without an anchor, too many of them, and values inside themselves
 */
export function contentOf(document: Document, refused: (reason: string) => Error): unknown {
  try {
    const content: unknown = document.toJS();
    // Throws for a value inside itself.
    JSON.stringify(content);
    return content;
  } catch (error) {
    throw refused(`its anchors and aliases cannot be resolved: ${firstLineOf(error)}`);
  }
}
