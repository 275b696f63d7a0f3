/** The output of `kubeloom get` and `watch` for an object, in each format. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ObjectPrinter } from '../../../src/cli/object-printer.ts';
import type { PrinterOptions } from '../../../src/cli/object-printer.ts';
import type { Borrowed } from '../../../src/replica/store/entry.ts';

const REF = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', isNamespaced: true };
const NOW = Date.parse('2026-01-01T00:01:00Z');

function borrowed(name: string, json?: string): Borrowed<unknown> {
  const object = {
    metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { replicas: 2 },
    status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
  };
  const entry = {
    key: `web/${name}`,
    namespace: 'web',
    name,
    object,
    bytes: () => Buffer.from(json ?? JSON.stringify({ metadata: { name } })),
  };
  return entry as unknown as Borrowed<unknown>;
}

function printer(options: Partial<PrinterOptions>): { printer: ObjectPrinter; output: string[] } {
  const output: string[] = [];
  return {
    output,
    printer: new ObjectPrinter({
      ref: REF,
      output: { type: 'table', isWide: false },
      hasKinds: false,
      hasNamespaces: true,
      hasEvents: false,
      now: () => NOW,
      write: (text) => output.push(text),
      ...options,
    }),
  };
}

describe('the printer of changes', () => {
  it('prints the initial objects together and every later change at once', () => {
    const { printer: it, output } = printer({});
    it.print('ADDED', borrowed('a'));
    it.print('ADDED', borrowed('longer-name'));
    assert.deepEqual(output, []);
    it.flush();
    it.print('MODIFIED', borrowed('a'));
    assert.deepEqual(output, [
      'NAMESPACE   NAME          READY   UP-TO-DATE   AVAILABLE   AGE\n' +
        'web         a             1/2     2            1           60s\n' +
        'web         longer-name   1/2     2            1           60s\n',
      'web         a             1/2     2            1           60s\n',
    ]);
  });

  it('prints headers before the first object when there was none initially', () => {
    const { printer: it, output } = printer({ hasNamespaces: false });
    it.flush();
    assert.equal(output.length, 0);
    it.print('ADDED', borrowed('a'));
    assert.equal(output[0]?.split('\n')[0], 'NAME   READY   UP-TO-DATE   AVAILABLE   AGE');
  });

  it('prints the type of each event on request, aligned with all later lines', () => {
    const { printer: it, output } = printer({ hasEvents: true });
    it.print('ADDED', borrowed('a'));
    it.flush();
    it.print('MODIFIED', borrowed('a'));
    it.print('DELETED', borrowed('a'));
    const starts = output
      .join('')
      .trim()
      .split('\n')
      .map((line) => line.slice(0, 14));
    assert.deepEqual(starts, ['EVENT      NAM', 'ADDED      web', 'MODIFIED   web', 'DELETED    web']);
  });

  it('prints names as kubectl does', () => {
    const { printer: it, output } = printer({ output: { type: 'name' } });
    it.flush();
    it.print('ADDED', borrowed('a'));
    assert.deepEqual(output, ['deployment.apps/a\n']);
  });

  it('prints one object a line as JSON, whatever its bytes are', () => {
    const { printer: it, output } = printer({ output: { type: 'json' } });
    it.flush();
    it.print('ADDED', borrowed('a', '{\n  "metadata": { "name": "a",\r\n "note": "\u009b31m" }\n}\n'));
    assert.equal(output.length, 1);
    assert.equal(output[0]?.trimEnd().includes('\n'), false);
    assert.ok(!output[0]?.includes('\u009b'));
    assert.deepEqual(JSON.parse(output[0] ?? ''), { metadata: { name: 'a', note: '\u009b31m' } });
  });

  it('wraps JSON into watch events on request', () => {
    const { printer: it, output } = printer({ output: { type: 'json' }, hasEvents: true });
    it.flush();
    it.print('DELETED', borrowed('a'));
    assert.deepEqual(JSON.parse(output[0] ?? ''), { type: 'DELETED', object: { metadata: { name: 'a' } } });
  });
});
