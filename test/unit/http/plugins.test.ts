/** Credential plugins that misbehave, and the policy. Every plugin here is a real process. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RequestOptions } from 'node:https';
import { CoreV1Api } from '@kubernetes/client-node';
import type { Cluster } from '@kubernetes/client-node';
import { FakeClock } from '../../../src/tools/apiserver/testing/fake-clock.ts';
import { Credentials } from '../../../src/http/credentials/credentials.ts';
import { execCredential } from '../../../src/http/credentials/exec-credentials.ts';
import type { ExecPlugin, ExecRequest } from '../../../src/http/credentials/exec-credentials.ts';
import { resolveCommand, restrictCredentialPlugins } from '../../../src/kube/plugin-policy.ts';
import type { CredentialPluginPolicy } from '../../../src/kube/plugin-policy.ts';
import { LoadedKubeConfig } from '../../../src/kube/loaded-kube-config.ts';
import { kubeConfigFor } from '../../security/bare-server.ts';
import { failure, file, folder, setEnvironment } from './credentials-scene.ts';
import { until } from '../../kit/until.ts';

const CLUSTER: Cluster = { name: 'c', server: 'https://host', skipTLSVerify: false };
const API_VERSION = 'client.authentication.k8s.io/v1';
const ANSWER = JSON.stringify({ apiVersion: API_VERSION, kind: 'ExecCredential', status: { token: 't' } });

function request(more: Partial<ExecRequest> = {}): ExecRequest {
  return {
    cluster: CLUSTER,
    isUnauthorized: () => false,
    policy: { policyType: 'AllowAll' },
    signal: new AbortController().signal,
    ...more,
  };
}

/** Writes a shell script and returns its path. */
function script(body: string, name?: string): string {
  return file(`#!/bin/sh\n${body}\n`, name, 0o755);
}

function pluginOf(body: string, more: Partial<ExecPlugin> = {}): ExecPlugin {
  return { apiVersion: API_VERSION, interactiveMode: 'Never', command: script(body), ...more };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie answers the signal, too: it has ended.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return false;
  }
}

let lists = 0;

/** Returns a plugin that starts another process and hangs with it. */
function hangingPlugin(): { readonly plugin: ExecPlugin; readonly pids: () => number[] } {
  const list = join(folder, `pids-${++lists}`);
  const plugin = pluginOf(`sleep 600 & echo "$! $$" > ${list}.new; mv ${list}.new ${list}; wait`);
  const pids = (): number[] =>
    existsSync(list) ? readFileSync(list, 'utf8').trim().split(' ').map(Number) : [];
  return { plugin, pids };
}

test('C186 a plugin that hangs is terminated at the time limit, with all processes that it started', async () => {
  const { plugin, pids } = hangingPlugin();
  const clock = new FakeClock();
  const asked = execCredential(plugin, request({ clock }));
  await until(() => pids().length === 2);
  clock.advance(59_999);
  assert.ok(pids().every(isAlive));
  clock.advance(1);
  await assert.rejects(asked, { code: 'ERR_KUBELOOM_CREDENTIALS', message: /no answer within 60 s/ });
  await until(() => !pids().some(isAlive));
});

test('C186 on Linux a process that a plugin started in a separate session is also terminated', async () => {
  if (process.platform !== 'linux') return;
  const list = join(folder, `pids-${++lists}`);
  const plugin = pluginOf(
    `setsid sh -c 'echo $$ > ${list}.new; mv ${list}.new ${list}; exec sleep 600' & wait`,
  );
  const abort = new AbortController();
  const asked = execCredential(plugin, request({ signal: abort.signal }));
  await until(() => existsSync(list));
  const pid = Number(readFileSync(list, 'utf8'));
  assert.ok(isAlive(pid));
  abort.abort();
  await assert.rejects(asked, /credentials of the plugin .* was aborted/);
  await until(() => !isAlive(pid));
});

test('a plugin is terminated when the last waiting request is aborted, and not before', async () => {
  const { plugin, pids } = hangingPlugin();
  const [one, two] = [new AbortController(), new AbortController()];
  const asked = [one, two].map(({ signal }) => execCredential(plugin, request({ signal })));
  const outcomes = Promise.allSettled(asked);
  await until(() => pids().length === 2);
  one.abort();
  await assert.rejects(asked[0] as Promise<unknown>, /was aborted/);
  assert.ok(pids().every(isAlive), 'the other one waits');
  two.abort();
  await outcomes;
  await until(() => !pids().some(isAlive));
});

test('a request after the last waiting one was aborted starts another run', async () => {
  const first = join(folder, 'first');
  const plugin = pluginOf(`if [ -e ${first} ]; then echo '${ANSWER}'; else touch ${first}; sleep 600; fi`);
  const abort = new AbortController();
  const asked = execCredential(plugin, request({ signal: abort.signal }));
  await until(() => existsSync(first));
  abort.abort();
  await assert.rejects(asked);
  assert.equal((await execCredential(plugin, request())).token, 't');
});

test('C186 an endless answer is cut off at its limit, and the plugin is terminated', async () => {
  const plugin = pluginOf('exec yes canary');
  const asked = execCredential(plugin, request());
  await assert.rejects(asked, { code: 'ERR_KUBELOOM_CREDENTIALS', message: /more than 1048576 bytes/ });
});

test('C186 output that is not an ExecCredential of the requested version is refused, and never quoted', async () => {
  const other = ANSWER.replace('/v1"', '/v1beta1"');
  const cases: [string, RegExp][] = [
    ['echo canary', /gave no ExecCredential$/],
    [`echo '[{"token":"canary"}]'`, /gave no ExecCredential$/],
    [`echo '${ANSWER.replace('ExecCredential', 'Secret')}'`, /gave no ExecCredential$/],
    [`echo '${other}'`, /not of client\.authentication\.k8s\.io\/v1,/],
    ['echo canary-token >&2; echo canary; exit 1', /failed \(1\) with 13 bytes on stderr, not shown/],
    ['kill -9 $$', /failed \(SIGKILL\)/],
    [`printf '\\377\\376canary'`, /gave no ExecCredential$/],
  ];
  for (const [body, message] of cases) {
    await assert.rejects(
      execCredential(pluginOf(body), request()),
      failure('ERR_KUBELOOM_CREDENTIALS', message, /canary/),
    );
  }
  const beta = pluginOf(`echo '${other}'`, { apiVersion: API_VERSION.replace('v1', 'v1beta1') });
  assert.equal((await execCredential(beta, request())).token, 't');
});

test('C186 no shell reads the command or its arguments, and invalid arguments are an error', async () => {
  const proof = join(folder, 'proof');
  const injected: ExecPlugin = { apiVersion: API_VERSION, command: `/bin/echo; touch ${proof}` };
  await assert.rejects(execCredential(injected, request()), /was not found/);
  const echo = pluginOf(`[ "$1" = ';touch ${proof}' ] && echo '${ANSWER}'`, { args: [`;touch ${proof}`] });
  assert.equal((await execCredential(echo, request())).token, 't');
  assert.equal(existsSync(proof), false);
  const nul = pluginOf('true', { args: ['canary\0'] });
  await assert.rejects(
    execCredential(nul, request()),
    failure('ERR_KUBELOOM_CREDENTIALS', /could not be started \(ERR_INVALID_ARG_VALUE\)/, /canary/),
  );
});

test('a bare name is never a file of the working directory, for any $PATH', async (context) => {
  const name = 'kubeloom-hijack';
  script(`echo '${ANSWER}'`, name);
  const before = process.cwd();
  context.after(() => process.chdir(before));
  process.chdir(folder);
  for (const path of ['.', '', ':', `./:${before}`]) {
    setEnvironment(context, { PATH: path });
    assert.equal(resolveCommand(name), undefined, path);
    await assert.rejects(
      execCredential({ apiVersion: API_VERSION, command: name, installHint: 'get it' }, request()),
      /not found: get it/,
    );
  }
  setEnvironment(context, { PATH: `/nowhere:${folder}` });
  assert.equal(resolveCommand(name), join(folder, name));
});

test('C186 the policy decides which plugins may run: all, none, or the plugins of a list', async (context) => {
  const ran = join(folder, 'ran');
  const command = script(`touch ${ran}; echo '${ANSWER}'`, 'listed-plugin');
  const other = script(`touch ${ran}`);
  setEnvironment(context, { PATH: `${folder}:${process.env['PATH']}` });
  const listed = (name: string): CredentialPluginPolicy => ({
    policyType: 'Allowlist',
    allowlist: [{ name }],
  });
  const refusals: [string, CredentialPluginPolicy][] = [
    [command, { policyType: 'DenyAll' }],
    [other, listed(command)],
    [other, listed('listed-plugin')],
    ['listed-plugin', listed('other-plugin')],
    [command, listed('listed')],
  ];
  for (const [refused, policy] of refusals) {
    await assert.rejects(execCredential({ apiVersion: API_VERSION, command: refused }, request({ policy })), {
      code: 'ERR_KUBELOOM_PLUGIN_REFUSED',
      message: /wants to run .*(the policy is to run none|not on the list)/,
    });
  }
  assert.equal(existsSync(ran), false);
  for (const [allowed, policy] of [
    [command, listed(command)],
    [command, listed('listed-plugin')],
    ['listed-plugin', listed(command)],
    ['listed-plugin', { policyType: 'AllowAll' }],
  ] as const) {
    assert.equal(
      (await execCredential({ apiVersion: API_VERSION, command: allowed }, request({ policy }))).token,
      't',
    );
  }
});

test('a policy holds for every use of its KubeConfig, also after a plugin has run', async () => {
  const config = kubeConfigFor('https://host', { exec: pluginOf(`echo '${ANSWER}'`) });
  const credentials = new Credentials(config);
  assert.equal((await credentials.connection(false)).headers['authorization'], 'Bearer t');
  restrictCredentialPlugins(config, { policyType: 'DenyAll' });
  await assert.rejects(credentials.connection(false), { code: 'ERR_KUBELOOM_PLUGIN_REFUSED' });
  for (const policy of [
    { policyType: 'Deny' },
    { policyType: 'Allowlist' },
    { policyType: 'Allowlist', allowlist: [] },
    { policyType: 'Allowlist', allowlist: [{ name: '' }] },
    { policyType: 'Allowlist', allowlist: [{ name: './plugin' }] },
    { policyType: 'Allowlist', allowlist: [{ name: 'folder/plugin' }] },
  ]) {
    assert.throws(() => restrictCredentialPlugins(config, policy as CredentialPluginPolicy), {
      code: 'ERR_KUBELOOM_OPTION',
    });
  }
});

test('C252 a policy also holds for client-node’s KubeConfig and API objects made from its KubeConfig', async () => {
  const ran = join(folder, 'ran-past-the-policy');
  const exec = pluginOf(`touch ${ran}; echo '${ANSWER}'`);
  const { clusters, contexts, currentContext } = kubeConfigFor('https://127.0.0.1:1');
  const loaded = new LoadedKubeConfig({ clusters, users: [{ name: 'u', exec }], contexts, currentContext });
  const theirs = kubeConfigFor('https://127.0.0.1:1', { exec });
  const hidden = kubeConfigFor('https://127.0.0.1:1', { authProvider: { name: 'x', config: { exec } } });
  for (const config of [loaded, theirs, hidden]) restrictCredentialPlugins(config, { policyType: 'DenyAll' });
  const refusal = { code: 'ERR_KUBELOOM_PLUGIN_REFUSED' };
  await assert.rejects(new Credentials(loaded.toClientNode()).connection(false), refusal);
  await assert.rejects(loaded.makeApiClient(CoreV1Api).listNode(), refusal);
  for (const config of [loaded.toClientNode(), theirs, hidden]) {
    await assert.rejects(config.makeApiClient(CoreV1Api).listNode(), refusal);
    await assert.rejects(config.applyToHTTPSOptions({}), refusal);
    await assert.rejects(config.applyToFetchOptions({}), refusal);
  }
  assert.equal(existsSync(ran), false);
  restrictCredentialPlugins(theirs, { policyType: 'Allowlist', allowlist: [{ name: exec.command }] });
  await theirs.applyToHTTPSOptions({});
  assert.ok(existsSync(ran));
});

test('C252 client-node does not run a plugin beside other credentials, nor one that stands in an auth-provider', async () => {
  const ran = join(folder, 'ran-beside');
  const exec = pluginOf(`touch ${ran}; echo '${ANSWER}'`);
  const { clusters, contexts, currentContext } = kubeConfigFor('https://127.0.0.1:1');
  const tokenFile = file('of-file');
  for (const [user, authorization] of [
    [{ tokenFile, exec }, 'Bearer of-file'],
    [{ token: 'mine', exec }, 'Bearer mine'],
    [{ authProvider: { name: 'x', config: { exec, tokenFile } } }, undefined],
  ] as const) {
    const loaded = new LoadedKubeConfig({
      clusters,
      users: [{ name: 'u', ...user }],
      contexts,
      currentContext,
    });
    const options: RequestOptions = {};
    await loaded.toClientNode().applyToHTTPSOptions(options);
    assert.equal((options.headers as Record<string, unknown>)['Authorization'], authorization);
  }
  assert.equal(existsSync(ran), false);
});

test('C252 the input of a plugin cannot be replaced by the kubeconfig, and contains the settings of its cluster', async () => {
  const seen = join(folder, 'seen');
  const plugin = pluginOf(`printf '%s' "$KUBERNETES_EXEC_INFO" > ${seen}; echo '${ANSWER}'`, {
    env: [{ name: 'KUBERNETES_EXEC_INFO', value: 'replaced' }],
    provideClusterInfo: true,
  });
  const execConfig = { shoot: 'web', audience: '06e3' };
  await execCredential(plugin, request({ cluster: { ...CLUSTER, execConfig } }));
  const { spec } = JSON.parse(readFileSync(seen, 'utf8')) as { spec: object };
  assert.deepEqual(spec, { interactive: false, cluster: { server: 'https://host', config: execConfig } });
  await execCredential(plugin, request({ cluster: { ...CLUSTER, server: 'https://other' } }));
  assert.match(readFileSync(seen, 'utf8'), /https:\/\/other/, 'another cluster has other credentials');
});
