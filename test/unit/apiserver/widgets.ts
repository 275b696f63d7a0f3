/** A custom resource for tests of the embedded server. */
import type { ResourceDefinition } from '../../../src/apiserver/testing/index.ts';

export const WIDGETS: ResourceDefinition = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
  custom: true,
};
