/** The arguments of `npm run bench --`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collectClients, parseRounds, parseRunOptions } from '../../../bench/arguments.ts';
import { SUITES } from '../../../bench/names.ts';

const usage = { code: 'ERR_KUBELOOM_USAGE' };

describe("the benchmark's command line", () => {
  it('runs every suite at the standard level without arguments', () => {
    const runOptions = {
      suites: SUITES,
      level: 'standard',
      clients: undefined,
      caseText: '',
      rounds: undefined,
    };
    assert.deepEqual(parseRunOptions([], {}), runOptions);
  });

  it('takes suites, a level, clients with commas or one by one, a case and rounds', () => {
    const client = collectClients('limit', collectClients('kubeloom,client-go'));
    const runOptions = parseRunOptions(['sync', 'watch'], {
      quick: true,
      client,
      case: 'TLS',
      rounds: parseRounds('5'),
    });
    const clients = ['kubeloom', 'client-go', 'limit'];
    assert.deepEqual(runOptions, {
      suites: ['sync', 'watch'],
      level: 'quick',
      clients,
      caseText: 'TLS',
      rounds: 5,
    });
  });

  it('runs quickly with the clients that ratios compare, unless some are named', () => {
    assert.deepEqual(parseRunOptions([], { quick: true }).clients, ['kubeloom', 'limit', 'client-node']);
    assert.deepEqual(parseRunOptions([], { quick: true, client: ['kube-rs'] }).clients, ['kube-rs']);
  });

  it('refuses an unknown suite or client, and lists the valid ones', () => {
    assert.throws(() => parseRunOptions(['wacth'], {}), { ...usage, message: /"wacth".*watch, sync/ });
    assert.throws(() => parseRunOptions([], { client: ['client-nod'] }), { ...usage, message: /kube-rs/ });
  });

  it('refuses two levels at once', () => {
    assert.throws(() => parseRunOptions([], { quick: true, all: true }), {
      ...usage,
      message: /--quick and --all/,
    });
  });

  it('does not take a suite for the file of --json', () => {
    assert.throws(() => parseRunOptions([], { json: 'watch' }), { ...usage, message: /\.\/watch/ });
    assert.equal(parseRunOptions(['watch'], { json: true }).level, 'standard');
    assert.equal(parseRunOptions(['watch'], { json: 'out.json' }).level, 'standard');
  });

  it('runs the suites of --goals, or only reads its file, which excludes selecting a part of a run', () => {
    assert.deepEqual(parseRunOptions(['rest'], { goals: 'out.json', quick: true }).suites, ['rest']);
    assert.equal(parseRunOptions([], { goals: 'out.json' }).suites, SUITES);
    for (const flags of [{ quick: true }, { client: ['limit'] }, { rounds: 1 }]) {
      const message = /name the suites to run, or leave --\w+ out/;
      assert.throws(() => parseRunOptions([], { goals: 'out.json', ...flags }), { ...usage, message });
    }
    for (const flags of [{ json: 'other.json' }, { from: 'other.json' }, { smoke: true }]) {
      const message = /--goals and --\w+ exclude each other/;
      assert.throws(() => parseRunOptions(['rest'], { goals: 'out.json', ...flags }), { ...usage, message });
    }
    assert.throws(() => parseRunOptions([], { goals: 'watch' }), { ...usage, message: /\.\/watch/ });
  });

  it('accepts a number of rounds in digits only', () => {
    for (const text of ['0', '101', '1e1', '-1', 'three', ''])
      assert.throws(() => parseRounds(text), usage, text);
  });
});
