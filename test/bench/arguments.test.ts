/** What can be typed after `npm run bench --`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collectClients, parseRounds, parseWish } from '../../bench/arguments.ts';
import { SUITES } from '../../bench/names.ts';

const usage = { code: 'ERR_KUBELOOM_USAGE' };

describe("the benchmark's command line", () => {
  it('runs every suite at the standard level when nothing is said', () => {
    const wish = { suites: SUITES, level: 'standard', clients: undefined, caseText: '', rounds: undefined };
    assert.deepEqual(parseWish([], {}), wish);
  });

  it('takes suites, a level, clients with commas or one by one, a case and rounds', () => {
    const client = collectClients('limit', collectClients('kubeloom,client-go'));
    const wish = parseWish(['sync', 'watch'], { quick: true, client, case: 'TLS', rounds: parseRounds('5') });
    const clients = ['kubeloom', 'client-go', 'limit'];
    assert.deepEqual(wish, {
      suites: ['sync', 'watch'],
      level: 'quick',
      clients,
      caseText: 'TLS',
      rounds: 5,
    });
  });

  it('takes part quickly with those that ratios are made of, unless somebody is named', () => {
    assert.deepEqual(parseWish([], { quick: true }).clients, ['kubeloom', 'limit', 'client-node']);
    assert.deepEqual(parseWish([], { quick: true, client: ['kube-rs'] }).clients, ['kube-rs']);
  });

  it('refuses a suite or a client that there is not, and names those that there are', () => {
    assert.throws(() => parseWish(['wacth'], {}), { ...usage, message: /"wacth".*watch, sync/ });
    assert.throws(() => parseWish([], { client: ['client-nod'] }), { ...usage, message: /kube-rs/ });
  });

  it('refuses two levels at once', () => {
    assert.throws(() => parseWish([], { quick: true, all: true }), {
      ...usage,
      message: /--quick and --all/,
    });
  });

  it('does not take a suite for the file of --json', () => {
    assert.throws(() => parseWish([], { json: 'watch' }), { ...usage, message: /\.\/watch/ });
    assert.equal(parseWish(['watch'], { json: true }).level, 'standard');
    assert.equal(parseWish(['watch'], { json: 'out.json' }).level, 'standard');
  });

  it('wants a number of rounds in digits', () => {
    for (const text of ['0', '101', '1e1', '-1', 'three', ''])
      assert.throws(() => parseRounds(text), usage, text);
  });
});
