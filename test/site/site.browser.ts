/** The site in Chromium: links, widths, contrast in both colour schemes, requests, and the search. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, posix } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Chromium, findChromium } from '../unit/tools/loadtest/chromium.ts';
import { SITE, buildSite } from './build.ts';
import { FAINT, LINKS, WIDTH } from './look.ts';
import type { Links } from './look.ts';

const WIDE = { width: 1280, height: 900, deviceScaleFactor: 1 };
const NARROW = { width: 360, height: 780, deviceScaleFactor: 1 };
/** Pages that are not of VitePress: the page of a missing address, and the report, which report.browser.ts judges. */
const OTHERS = new Set(['404.html', 'loadtest-report.html']);

const IS_DARK = `getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((value) => value < 64)`;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
};

/** Serves the folder of the site on a port of the loopback address. */
async function serve(): Promise<Server> {
  const server = createServer(({ url = '/' }, response) => {
    const path = posix.normalize(decodeURIComponent(new URL(url, 'http://site/').pathname));
    const file = join(SITE, path.endsWith('/') ? `${path}index.html` : path);
    readFile(file).then(
      (body) => response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain' }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

interface Visit extends Links {
  readonly isDark: boolean;
  readonly wide: readonly string[];
  readonly faint: readonly string[];
}

/** Looks at a page in both colour schemes and both widths. */
async function visit(browser: Chromium, address: string): Promise<Visit> {
  const ask = async <T>(expression: string): Promise<T> => (await browser.evaluate(expression)) as T;
  await browser.open(address, 'light', WIDE);
  const links = await ask<Links>(LINKS);
  const wide = await ask<string[]>(WIDTH);
  const faint = await ask<string[]>(FAINT);
  await browser.resize('dark', WIDE);
  faint.push(...(await ask<string[]>(FAINT)));
  await browser.resize('dark', NARROW);
  wide.push(...(await ask<string[]>(WIDTH)));
  return { ...links, wide, faint, isDark: await ask(IS_DARK) };
}

function runIn(program: string): void {
  const visits = new Map<string, Visit>();
  let chromium: Chromium | undefined;
  let server: Server | undefined;
  let origin = '';
  let files: readonly string[] = [];

  before(async () => {
    await buildSite();
    files = await readdir(SITE, { recursive: true });
    server = await serve();
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    chromium = await Chromium.start(program);
    for (const page of files.filter((name) => name.endsWith('.html') && !OTHERS.has(name)))
      visits.set(page, await visit(chromium, `${origin}/${page}`));
  });

  after(async () => {
    await chromium?.[Symbol.asyncDispose]();
    server?.close();
  });

  function assertNone(faults: readonly string[]): void {
    assert.ok(visits.size > 80, `${visits.size} pages`);
    assert.ok(faults.length === 0, `${faults.length} faults:\n${faults.slice(0, 40).join('\n')}`);
  }

  const faultsOf = (find: (visit: Visit, page: string) => readonly string[]): string[] =>
    Array.from(visits, ([page, each]) => find(each, page).map((fault) => `${page}: ${fault}`)).flat();

  describe('the site in Chromium', () => {
    test('has no link that leads nowhere, neither to a page nor to a place in it', () => {
      const known = new Set(files);
      const leads = (link: string): boolean => {
        const { pathname, hash } = new URL(link);
        const page = decodeURIComponent(pathname)
          .slice(1)
          .replace(/^$|(?<=\/)$/, 'index.html');
        const ids = visits.get(page)?.ids;
        return known.has(page) && (hash === '' || ids?.includes(decodeURIComponent(hash.slice(1))) === true);
      };
      assertNone(faultsOf(({ links }) => links.filter((link) => link.startsWith(origin) && !leads(link))));
    });

    test('is never wider than the window, at 360 and at 1,280 pixels', () => {
      assertNone(faultsOf(({ wide }) => wide));
    });

    test('has text with a contrast of 4.5 in light and in dark', () => {
      assertNone(faultsOf(({ faint }) => faint));
    });

    test('is dark when the reader prefers that', () => {
      assertNone(faultsOf(({ isDark }) => (isDark ? [] : ['is light'])));
    });

    test('requests nothing from elsewhere, and complains of nothing', () => {
      assertNone(chromium?.complaints ?? ['no browser']);
    });

    test('finds a page by a word', async () => {
      await chromium?.open(`${origin}/index.html`, 'light', WIDE);
      const found = await chromium?.evaluate(SEARCH);
      assert.match(String(found), /leader-election\.html/);
    });
  });
}

/**
 * Types a word into the search, and returns the links of the results when there are any. The page is loaded before its scripts
 * listen, so an act that had no effect is repeated.
 */
const SEARCH = `(async () => {
  const until = async (find, act) => {
    for (let looks = 0; ; looks++) {
      const found = find();
      if (found) return found;
      if (looks % 40 === 0) act();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const input = await until(
    () => document.querySelector('.search-input'),
    () => document.querySelector('.VPNavBarSearch button')?.click(),
  );
  await until(() => document.querySelector('.result'), () => {
    input.value = 'leaderSignal';
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });
  return [...document.querySelectorAll('.result')].map(({ href }) => href).join(' ');
})()`;

const program = findChromium();
if (program === undefined) process.stdout.write('NOT RUN: no chromium on this machine\n');
else runIn(program);
