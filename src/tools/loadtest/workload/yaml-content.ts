/** Reads the content of a YAML document as plain data. Anchors, aliases and depth could make the content endless. */
import type { Document } from 'yaml';
import { firstLineOf } from '../../../base/errors.ts';

/**
 * @param refused makes the error
 * @throws the error of `refused` for an alias without an anchor, for too many aliases, and for a value inside itself
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
