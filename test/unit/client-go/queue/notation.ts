/** Objects and deltas as text: `a@2` is object a at version 2, `a@2?` its tombstone, `a?` one without an object. */
import { isTombstone } from '../../../../src/kube/tombstone.ts';
import type { Delta, MaybeTombstone } from '../../../../src/client-go/queue/delta.ts';

export interface TestObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

/** Parses `a@2`. */
export function object(text: string): TestObject {
  const [name = '', resourceVersion = ''] = text.split('@');
  return { metadata: { name, resourceVersion } };
}

/** Parses `a@2 b@3`; an empty text has no objects. */
export function objects(text: string): TestObject[] {
  return text
    .split(' ')
    .filter((part) => part !== '')
    .map(object);
}

export function textOf(value: MaybeTombstone<TestObject>): string {
  if (!isTombstone(value)) return `${value.metadata.name}@${value.metadata.resourceVersion}`;
  return value.object === undefined ? `${value.key}?` : `${textOf(value.object)}?`;
}

export function deltaText(delta: Delta<TestObject>): string {
  switch (delta.type) {
    case 'ReplacedAll':
      return `ReplacedAll ${delta.resourceVersion} [${delta.objects.map(textOf).join(' ')}]`;
    case 'Bookmark':
      return `Bookmark ${delta.resourceVersion}`;
    case 'SyncAll':
      return 'SyncAll';
    default:
      return `${delta.type} ${textOf(delta.object)}`;
  }
}

export function deltasText(deltas: readonly Delta<TestObject>[]): string {
  return deltas.map(deltaText).join(', ');
}
