/** Objects and deltas as text: `a@2` is object a at version 2, `a@2?` its tombstone, `a?` one without an object. */
import { isTombstone } from '../../../../src/kube/tombstone.ts';
import type { Delta, MaybeTombstone } from '../../../../src/client-go/queue/delta.ts';

export interface TestObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

export type Step =
  | readonly ['add' | 'update' | 'delete', string]
  | readonly ['replace', string, string]
  | readonly ['bookmark', string]
  | readonly ['resync'];

/** `process` runs the consumer until nothing is queued. */
export type HistoryStep = Step | readonly ['process'];

/** Parses `replace 5 [a@1 b@2], update a@6, resync`. */
export function stepsOf<S extends HistoryStep = HistoryStep>(text: string): S[] {
  return textsOf(text, ', ').map((step) => {
    const [, verb = '', about = '', list] = /^(\w+) ?(\S*)(?: \[(.*)\])?$/.exec(step) ?? [];
    return (list === undefined ? [verb, about] : [verb, about, list]) as unknown as S;
  });
}

/** Parses pops or handler calls; an empty text has none. */
export function textsOf(text: string, separator = ' | '): string[] {
  return text === '' ? [] : text.split(separator);
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
