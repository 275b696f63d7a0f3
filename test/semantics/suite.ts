/**
 * Every property of a server on which the informer relies, as tests. The same tests run against the embedded
 * server and a real kube-apiserver, so that the embedded one stays faithful.
 */
import { describe } from 'node:test';
import { applySemantics } from './apply.ts';
import { bodySemantics } from './bodies.ts';
import { compressionSemantics } from './compression.ts';
import { customResourceSemantics } from './custom-resources.ts';
import { definitionRuleSemantics } from './definition-rules.ts';
import { deleteSemantics } from './deletes.ts';
import { errorSemantics } from './errors.ts';
import { expirySemantics } from './expiry.ts';
import { kindSemantics } from './kinds.ts';
import { integerSemantics } from './integers.ts';
import { lifecycleSemantics } from './lifecycle.ts';
import { listSemantics } from './list.ts';
import { metadataSemantics } from './metadata.ts';
import { newObjectSemantics } from './new-objects.ts';
import { paginationSemantics } from './pagination.ts';
import { objectClientSemantics } from './object-client.ts';
import { patchSemantics } from './patches.ts';
import { podActionSemantics } from './pod-actions.ts';
import { selectorSemantics } from './selectors.ts';
import { ruleSemantics } from './rules.ts';
import { schemaFieldSemantics } from './schema-fields.ts';
import { schemaSemantics } from './schemas.ts';
import type { Target } from './target.ts';
import { watchListSemantics } from './watch-list.ts';
import { watchSemantics } from './watch.ts';
import { writeSemantics } from './writes.ts';

/** Registers the suite with node:test. `target` is called once per group and may return the same server each time. */
export function apiServerSemantics(target: () => Promise<Target>, name = 'a server'): void {
  describe(`apiserver semantics: ${name}`, () => {
    listSemantics(target);
    compressionSemantics(target);
    paginationSemantics(target);
    watchSemantics(target);
    watchListSemantics(target);
    selectorSemantics(target);
    writeSemantics(target);
    integerSemantics(target);
    bodySemantics(target);
    metadataSemantics(target);
    patchSemantics(target);
    objectClientSemantics(target);
    applySemantics(target);
    podActionSemantics(target);
    deleteSemantics(target);
    errorSemantics(target);
    kindSemantics(target);
    newObjectSemantics(target);
    lifecycleSemantics(target);
    customResourceSemantics(target);
    definitionRuleSemantics(target);
    schemaSemantics(target);
    schemaFieldSemantics(target);
    ruleSemantics(target);
    // Last: on a real server it requires a restart.
    expirySemantics(target);
  });
}
