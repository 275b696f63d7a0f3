/** Conflicts of server-side apply: fields that another manager owns, from the causes of a Status. */
export interface FieldConflict {
  /** Path of the field, as the server writes it: `.spec.replicas`, `.spec.containers[name="app"].image`. */
  readonly field: string;
  /** Name of the manager that owns the field; '' when the server names none. */
  readonly manager: string;
  /** Subresource through which that manager wrote the field; '' for the object itself. */
  readonly subresource: string;
}

/** A cause in the details of a Status. */
interface Cause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

const REASON = 'FieldManagerConflict';
/** `conflict with "kubectl" with subresource "scale" using apps/v1 at 2026-01-02T03:04:05Z`; the names are quoted as in Go. */
const OWNER = /^conflict with ("(?:[^"\\]|\\.)*")(?: with subresource ("(?:[^"\\]|\\.)*"))?/;
/** Conflicts that a message names. */
const NAMED_MAX = 5;

export function fieldConflictsOf(causes: readonly Cause[]): FieldConflict[] {
  return causes
    .filter(({ reason }) => reason === REASON)
    .map(({ field = '', message = '' }) => {
      const [, manager = '', subresource = ''] = OWNER.exec(message) ?? [];
      return { field, manager: unquoted(manager), subresource: unquoted(subresource) };
    });
}

/** Returns the conflicts for a message: `.spec.replicas is owned by "kubectl"`. */
export function conflictsText(conflicts: readonly FieldConflict[]): string {
  const named = conflicts.slice(0, NAMED_MAX).map(({ field, manager, subresource }) => {
    const through = subresource === '' ? '' : ` (${subresource})`;
    return `${field} is owned by ${JSON.stringify(manager)}${through}`;
  });
  const rest = conflicts.length - named.length;
  return `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function unquoted(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(["\\])/g, '$1');
}
