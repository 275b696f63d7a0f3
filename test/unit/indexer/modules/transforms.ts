/** Module transforms and index functions that the tests load by URL. */

interface Pod {
  metadata: { name: string; labels?: Record<string, string>; [key: string]: unknown };
  spec?: { nodeName?: string; containers?: { image: string }[] };
  [key: string]: unknown;
}

export let calls = 0;

export function resetCalls(): void {
  calls = 0;
}

/** Called by `slow`, so that tests can let time pass. */
export const during: { slow: () => void } = { slow: () => undefined };

export function slow(pod: Pod): Pod {
  during.slow();
  return pod;
}

/** Changes the object in place, as client-go users do. */
export function trim(pod: Pod): Pod {
  calls++;
  delete pod.metadata['managedFields'];
  pod.metadata.labels = { ...pod.metadata.labels, trimmed: 'yes' };
  return pod;
}

/** Fails for some names, after it has already changed the object. */
export function moody(pod: Pod): unknown {
  const { name } = pod.metadata;
  pod['damaged'] = true;
  if (name === 'throws') throw new Error('bad mood');
  if (name === 'nothing') return undefined;
  if (name === 'text') return 'text';
  if (name === 'list') return [];
  if (name === 'promise') return Promise.reject(new Error('bad mood'));
  if (name === 'circular') return { ...pod, self: pod, again: (pod['self'] = pod) };
  if (name === 'renames') pod.metadata.name = 'other';
  if (name === 'moves') pod.metadata['namespace'] = 'elsewhere';
  if (name === 'reborn') pod.metadata['uid'] = 'new';
  if (name === 'newer') pod.metadata['resourceVersion'] = '999';
  if (name === 'headless') return { kind: 'Pod' };
  return pod;
}

/** Returns values that JSON changes; the result as stored counts. */
export function dated(pod: Pod): unknown {
  return { ...pod, spec: { nodeName: undefined, at: new Date(0) } };
}

export function byImage(pod: Pod): string[] {
  return (pod.spec?.containers ?? []).map(({ image }) => image);
}

/** Throws for some objects and changes all of them. */
export function byNode(pod: Pod): unknown {
  const node = pod.spec?.nodeName;
  pod['damaged'] = true;
  if (node === 'bad') throw new Error('no such node');
  if (node === 'number') return [1];
  if (node === 'text') return 'text';
  if (node === 'promise') return Promise.reject(new Error('no such node'));
  return node === undefined ? node : [node, node];
}

export const notAFunction = 1;
