/**
 * Dotted paths to a field of an object: `spec.nodeName`, `metadata.annotations.foo\.bar/baz`. A dot inside
 * a key is written `\.`, a backslash `\\`. They lead through objects only, never into arrays.
 */
import { KubeloomError } from '../../base/errors.ts';

/** Returns the keys of a dotted path. */
export function splitPath(path: string): string[] {
  const keys: string[] = [];
  let key = '';
  for (let index = 0; index < path.length; index++) {
    const character = path[index];
    if (character === '\\') {
      index++;
      const escaped = path[index];
      if (escaped !== '.' && escaped !== '\\')
        throw invalidPath(path, 'a backslash must precede a dot or a backslash');
      key += escaped;
    } else if (character === '.') {
      keys.push(key);
      key = '';
    } else {
      key += character;
    }
  }
  keys.push(key);
  if (keys.includes('')) throw invalidPath(path, 'a key is empty');
  return keys;
}

function invalidPath(path: string, why: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `invalid field path ${JSON.stringify(path)}: ${why}; write keys joined by dots, a dot inside a key as \\.`,
  );
}
