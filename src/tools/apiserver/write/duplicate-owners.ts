/** Owner references that an object contains twice: the server keeps each owner once, and warns. */

import type { OwnerReference } from '../store/json.ts';

/** Returns each owner once, and the uids of duplicate owners. */
export function distinctOwners(owners: readonly OwnerReference[]): {
  owners: OwnerReference[];
  twice: string[];
} {
  const kept = new Map<string, OwnerReference>();
  const twice = new Set<string>();
  for (const owner of owners) {
    const identity = JSON.stringify(
      Object.entries(owner).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
    if (kept.has(identity)) twice.add(owner.uid);
    else kept.set(identity, owner);
  }
  return { owners: [...kept.values()], twice: [...twice] };
}

/** The warning about duplicate owners. A patch is checked after it is applied. */
export function duplicateOwners(isPatch: boolean, uids: readonly string[]): string {
  const when = isPatch ? ' after mutating admission happens' : '';
  const past = 'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24';
  const what = `.metadata.ownerReferences contains duplicate entries${when}`;
  return `${what}; ${past}; please fix your requests; duplicate UID(s) observed: ${uids.join(', ')}`;
}
