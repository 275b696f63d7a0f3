/**
 * The choice of the proxy by the kubeconfig and the environment; the cases of NO_PROXY are those of Go's
 * httpproxy.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { proxyFor } from '../../../src/http/proxy-choice.ts';
import { failure } from './credentials-scene.ts';

const PROXY = 'http://proxy:3128';

function choose(server: string, environment: Record<string, string>, proxyUrl?: string): string | undefined {
  return proxyFor(server, proxyUrl, environment);
}

test('HTTPS_PROXY is for https servers, HTTP_PROXY for http ones, in upper or lower case', () => {
  const cases: [string, Record<string, string>, string | undefined][] = [
    ['https://h', { HTTPS_PROXY: PROXY }, PROXY],
    ['https://h', { https_proxy: PROXY }, PROXY],
    ['https://h', { HTTPS_PROXY: '', https_proxy: PROXY }, PROXY],
    ['https://h', { HTTPS_PROXY: PROXY, https_proxy: 'http://other' }, PROXY],
    ['https://h', { HTTP_PROXY: PROXY, ALL_PROXY: PROXY }, undefined],
    ['http://h', { HTTP_PROXY: PROXY }, PROXY],
    ['http://h', { http_proxy: PROXY, REQUEST_METHOD: 'GET' }, PROXY],
    ['http://h', { HTTPS_PROXY: PROXY }, undefined],
    ['https://h', { HTTPS_PROXY: 'proxy:3128' }, PROXY],
    ['https://h', { HTTPS_PROXY: 'https://proxy' }, 'https://proxy'],
    ['https://h', {}, undefined],
  ];
  for (const [server, environment, proxy] of cases) {
    assert.equal(choose(server, environment), proxy, inspect([server, environment]));
  }
});

test('C185 the environment never applies to loopback, and proxy-url wins over the environment', () => {
  for (const host of [
    'localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.9.9.9',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ]) {
    assert.equal(choose(`https://${host}:6443`, { HTTPS_PROXY: PROXY }), undefined, host);
  }
  assert.equal(choose('https://127.0.0.1.example.com', { HTTPS_PROXY: PROXY }), PROXY);
  const all = { HTTPS_PROXY: 'http://other', NO_PROXY: '*' };
  assert.equal(choose('https://h', all, PROXY), PROXY);
  assert.equal(choose('https://127.0.0.1', {}, PROXY), PROXY, 'what names a cluster means it');
});

test('NO_PROXY accepts names, subdomains, addresses, networks and ports', () => {
  const cases: [noProxy: string, host: string, isProxied: boolean][] = [
    ['example.com', 'example.com', false],
    ['example.com', 'a.b.example.com', false],
    ['example.com', 'notexample.com', true],
    ['.example.com', 'example.com', true],
    ['.example.com', 'a.example.com', false],
    ['*.example.com', 'a.example.com', false],
    ['*.example.com', 'example.com', true],
    ['EXAMPLE.com', 'example.COM', false],
    ['example.com:6443', 'example.com:6443', false],
    ['example.com:6443', 'example.com', true],
    ['example.com:443', 'example.com', false],
    ['10.1.2.3', '10.1.2.3', false],
    ['10.1.2.3:6443', '10.1.2.3:6443', false],
    ['10.1.2.3:6443', '10.1.2.3', true],
    ['10.0.0.0/8', '10.9.9.9:6443', false],
    ['10.0.0.0/8', '11.0.0.1', true],
    ['10.0.0.0/8', '10.0.0.0.example.com', true],
    ['10.9.9.9/8', '10.1.1.1', false],
    ['10.0.0.0/33', '10.0.0.1', true],
    ['fd00::/8', '[fd12::1]', false],
    ['fd00::/8', '[fe80::1]', true],
    ['::/0', '[fe80::1]', false],
    ['::/0', '10.0.0.1', true],
    ['::/0', '[::ffff:10.0.0.1]', true],
    ['0.0.0.0/0', '10.0.0.1', false],
    ['0.0.0.0/0', '[::ffff:10.0.0.1]', false],
    ['0.0.0.0/0', '[fe80::1]', true],
    ['::ffff:10.0.0.0/104', '10.9.9.9', false],
    ['::ffff:10.0.0.0/104', '11.0.0.1', true],
    ['[fd12::1]', '[fd12::1]:6443', true],
    ['[fd12::1]:', '[fd12::1]:6443', false],
    ['[fd12::1]:6443', '[fd12::1]:6443', false],
    ['[fd12::1]:443', '[fd12::1]:6443', true],
    ['fd12::1', '[fd12:0:0::1]', false],
    ['::ffff:10.0.0.1', '10.0.0.1', false],
    ['bücher.example', 'xn--bcher-kva.example', false],
    [' a.example , b.example ', 'b.example', false],
    [',, ,', 'h', true],
    [':6443', 'h:6443', true],
    ['*', 'anything.example', false],
    ['a.example,*', '10.0.0.1', false],
  ];
  for (const [noProxy, host, isProxied] of cases) {
    const environment = { HTTPS_PROXY: PROXY, NO_PROXY: noProxy };
    assert.equal(choose(`https://${host}`, environment) !== undefined, isProxied, `${noProxy} ${host}`);
    assert.equal(
      choose(`https://${host}`, { https_proxy: PROXY, no_proxy: noProxy }) !== undefined,
      isProxied,
    );
  }
});

test('a URL that is not HTTP proxy is refused with a code, without quoting it', () => {
  const cases: [Record<string, string>, string | undefined, RegExp][] = [
    [{}, 'socks5://user:canary@h', /proxy-url.*SOCKS/],
    [{ HTTPS_PROXY: 'socks5h://user:canary@h' }, undefined, /\$HTTPS_PROXY.*SOCKS/],
    [{ https_proxy: 'ftp://user:canary@h' }, undefined, /\$https_proxy is neither.*ftp:/],
    [{ HTTPS_PROXY: 'http://user:canary@h:port' }, undefined, /is no URL/],
  ];
  for (const [environment, proxyUrl, message] of cases) {
    assert.throws(
      () => choose('https://h', environment, proxyUrl),
      failure('ERR_KUBELOOM_PROXY', message, /canary/),
    );
  }
  assert.throws(() => choose('http://h', { HTTP_PROXY: PROXY, REQUEST_METHOD: 'GET' }), /CGI/);
});
