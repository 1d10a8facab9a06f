// A real browser looks at the page for people: what it shows, how it follows changes, and that nothing of a skill runs.
//
// usage: page.mjs DIR [SCREENSHOTS]      SCREENSHOTS: a directory for the pictures of the documentation
// env SKILLSERVE, INTEROP_TOOLS: as for the other drivers; CHROMIUM: the browser (default: chromium)
// The directory is copied first, and the copy is changed.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostile, hostileNames } from './page/hostile.mjs';

const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const tools = process.env.INTEROP_TOOLS ?? path.join(repository, 'target/interop');
const binary = process.env.SKILLSERVE ?? path.join(repository, 'target/release/skillserve');
const browserPath = execFileSync('which', [process.env.CHROMIUM ?? 'chromium'], { encoding: 'utf8' }).trim();
const require = createRequire(path.join(tools, 'package.json'));
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const [example, screenshots] = process.argv.slice(2);

const PATIENCE_MS = 15_000;
const CHROMIUM_OPTIONS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'page-'));
const skills = path.join(work, 'skills');

/** Writes a file that appears whole. */
function write(file, text) {
  const target = path.join(skills, file);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(`${target}.new~`, text);
  fs.renameSync(`${target}.new~`, target);
}

const skillMd = (name, description, more = '') => `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n${more}`;

/** Starts the program and waits until it says where it listens. */
async function serve(listen = '127.0.0.1:0') {
  const child = spawn(binary, ['http', '--listen', listen, '--keep-last-good', '0', skills], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', (data) => {
      said += data;
      const found = said.match(/http:\/\/(127\.0\.0\.1:\d+)\/mcp/);
      if (found) resolve(`http://${found[1]}/`);
    });
    child.on('exit', () => reject(new Error(`the server ended: ${said}`)));
  });
  const stop = () => new Promise((resolve) => {
    child.removeAllListeners('exit').on('exit', resolve);
    child.kill();
  });
  return { url, stop };
}

/** A proxy that serves what is at `target` below `prefix`, and nothing else. */
async function proxy(target, prefix) {
  const server = http.createServer((request, response) => {
    if (request.url === prefix) return response.writeHead(301, { location: `${prefix}/` }).end();
    if (!request.url.startsWith(`${prefix}/`)) return response.writeHead(418).end();
    const url = new URL(request.url.slice(prefix.length), target);
    const headers = { ...request.headers, host: url.host };
    const asked = http.request(url, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    response.on('close', () => asked.destroy());
    asked.on('error', () => response.destroy());
    request.pipe(asked);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections()));
  return { url: `http://127.0.0.1:${server.address().port}${prefix}`, stop };
}

fs.cpSync(example, skills, { recursive: true });
const server = await serve();
const browser = await chromium.launch({ executablePath: browserPath, args: CHROMIUM_OPTIONS });
const tests = [];
const test = (name, run, options = {}) => tests.push({ name, run, options });

/** A page that notes everything that should not happen in it. */
async function open(options, base) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const wrong = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && wrong.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => (wrong.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on('request', (request) => request.url().startsWith(base) || wrong.push(`request: ${request.url()}`));
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
  });
  return { context, page, wrong };
}

/** Waits until the page follows changes. */
const followed = (page) => page.locator('#live.on').waitFor();
const rows = (page) => page.locator('.skills li').count();
const said = (page, words) => page.locator('#said', { hasText: words }).waitFor({ state: 'attached' });
const served = execFileSync('find', [example, '-name', 'SKILL.md'], { encoding: 'utf8' }).trim().split('\n').length;

test('the skills are listed', async ({ page, url }) => {
  await page.goto(url);
  assert.equal(await rows(page), served);
  assert.equal(await page.title(), 'Skills · skillserve');
  await page.getByRole('link', { name: 'csv-profile' }).click();
  await page.getByRole('heading', { level: 1, name: 'csv-profile' }).waitFor();
  await page.getByRole('link', { name: 'references/pitfalls.md' }).first().click();
  await page.locator('article.markdown').waitFor();
  await page.getByRole('link', { name: 'Source' }).click();
  assert.match(await page.locator('.source .line').first().textContent(), /^# /);
});

test('the filter answers as it is typed into', async ({ page, url }) => {
  await page.goto(url);
  await page.keyboard.press('/');
  await page.keyboard.type('CSV profile');
  await said(page, `1 of ${served} skills fits the filter`);
  assert.equal(await rows(page), 1);
  assert.match(page.url(), /\?q=CSV\+profile$/);
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'csv-profile');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Escape');
  await page.waitForFunction((served) => document.querySelectorAll('.skills li').length === served, served);
  assert.equal(page.url(), url);
  await page.keyboard.type('nothing has this');
  await said(page, `None of ${served} skills fits the filter`);
});

test('the filter works without a script', async ({ page, url }) => {
  await page.goto(url);
  await page.getByRole('searchbox').fill('csv-profile');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL(/q=csv-profile/);
  assert.equal(await rows(page), 1);
  assert.equal(await page.getByRole('searchbox').inputValue(), 'csv-profile');
}, { javaScriptEnabled: false });

test('an edit is shown, and filter, scroll and focus stay', async ({ page, url }) => {
  for (let n = 10; n < 60; n += 1) write(`many/item-${n}/SKILL.md`, skillMd(`item-${n}`, 'One of many.'));
  await page.goto(url);
  await followed(page);
  await page.getByRole('searchbox').fill('item');
  await page.waitForFunction(() => document.querySelectorAll('.skills li').length === 50);
  await page.locator('a[href="skill?path=many/item-40"]').focus();
  await page.evaluate(() => scrollTo(0, 1500));
  const place = () => page.evaluate(() => ({
    top: Math.round(document.querySelector('[data-key="many/item-40"]').getBoundingClientRect().top),
    focus: document.activeElement.getAttribute('href'),
    filter: document.getElementById('filter').value,
  }));
  const before = await place();
  write('many/item-11/SKILL.md', skillMd('item-11', 'Edited, and now so long that it takes more lines than it did. '.repeat(12)));
  await page.getByText('Edited, and now').waitFor();
  await said(page, 'The page has been updated. 50 of');
  const { top, ...after } = await place();
  assert.deepEqual({ ...after, top: Math.abs(top - before.top) <= 1 && before.top }, before);
  assert.equal(await page.locator('.fresh').count(), 1);
  fs.rmSync(path.join(skills, 'many'), { recursive: true });
  await page.waitForFunction(() => document.querySelectorAll('.skills li').length === 0);
});

test('a skill that goes bad is shown with place and cure', async ({ page, url }) => {
  write('fragile/SKILL.md', skillMd('fragile', 'Works.'));
  await page.goto(url);
  await followed(page);
  await page.locator('[data-key="fragile"]').waitFor();
  write('fragile/SKILL.md', skillMd('fragile', 'Use when: it is bad'));
  const finding = page.getByRole('region', { name: 'Not served' }).locator('.finding.error');
  await finding.waitFor();
  assert.match(await finding.textContent(), /skills\/fragile\/SKILL\.md:3:\d+.*Cure.*put the value in quotes/s);
  assert.equal(await page.locator('[data-key="fragile"]').count(), 0);
  assert.match(await page.getByRole('link', { name: 'Problems' }).first().textContent(), /1/);
  await finding.getByRole('link', { name: 'yaml-syntax' }).click();
  await page.getByRole('heading', { name: 'Cure' }).waitFor();
  await page.getByRole('link', { name: 'Problems' }).first().click();
  await followed(page);
  await page.locator('.finding.error').waitFor();
  write('fragile/SKILL.md', skillMd('fragile', 'Works again.'));
  await page.locator('#found', { hasText: 'Nothing is wrong' }).waitFor();
  fs.rmSync(path.join(skills, 'fragile'), { recursive: true });
});

test('the page of a skill follows it to its end', async ({ page, url }) => {
  write('short-lived/SKILL.md', skillMd('short-lived', 'Lives.'));
  await page.goto(url);
  await followed(page);
  await page.getByRole('link', { name: 'short-lived' }).click();
  await followed(page);
  write('short-lived/SKILL.md', skillMd('short-lived', 'Lives.', '\nA second breath.\n'));
  await page.getByText('A second breath.').waitFor();
  fs.rmSync(path.join(skills, 'short-lived'), { recursive: true });
  await page.getByRole('heading', { name: 'Nothing is served here' }).waitFor();
}, { mayFail: [404] });

test('the page finds a server that was restarted', async ({ page }) => {
  const first = await serve();
  await page.goto(first.url);
  await followed(page);
  await first.stop();
  await page.locator('#live', { hasText: 'Not connected' }).waitFor();
  write('meanwhile/SKILL.md', skillMd('meanwhile', 'Came while nobody looked.'));
  const second = await serve(new URL(first.url).host);
  await page.getByText('Came while nobody looked.').waitFor();
  await second.stop();
  fs.rmSync(path.join(skills, 'meanwhile'), { recursive: true });
}, { mayFail: ['ERR_', 'request'] });

test('nothing of a hostile skill runs', async ({ page, url, wrong }) => {
  for (const [file, text] of Object.entries(hostile)) write(file, text);
  await page.goto(url);
  await page.locator('[data-key="hostile"]').waitFor();
  const seen = [''];
  for (const at of seen) {
    await page.goto(url + at);
    assert.equal(await page.evaluate(() => window.pwned), undefined, at);
    assert.deepEqual(await page.evaluate(() => window.violations), [], at);
    const found = await page.evaluate(() => ({
      links: [...document.links].map((link) => [link.getAttribute('href'), link.href, link.rel]),
      strange: document.querySelectorAll('iframe, object, embed, video, audio, svg, math, base, style, [style], main img, main form:not(.filter), main input:not(#filter), script:not([src^="assets/"])').length,
      handlers: [...document.querySelectorAll('*')].flatMap((it) => it.getAttributeNames()).filter((name) => name.startsWith('on')),
      scripts: document.scripts.length,
    }));
    assert.deepEqual([found.strange, found.handlers, found.scripts], [0, [], 1], at);
    for (const [href, target, rel] of found.links) {
      if (!target.startsWith(url)) {
        assert.match(target, /^https?:/, at);
        assert.equal(rel, 'noopener noreferrer nofollow', at);
      } else if (!href.startsWith('#') && !href.startsWith('download') && /hostile|problems|%/.test(href) && !seen.includes(href)) {
        seen.push(href);
      }
    }
  }
  // Every file was looked at.
  assert.ok(seen.length > hostileNames.length, seen.join('\n'));
  for (const name of ['page.html', 'picture.svg']) {
    await page.goto(`${url}file?path=hostile/${name}`);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    assert.equal((await downloading).suggestedFilename(), name);
  }
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  // The second wall: what would get through is not run.
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.pwned = 1';
    document.body.append(script);
    const image = document.createElement('img');
    image.src = 'https://elsewhere.example/x.png';
    document.body.append(image);
  });
  await page.waitForFunction(() => window.violations.length >= 2);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  const blocked = wrong.splice(0);
  assert.equal(blocked.filter((what) => what.includes('Content Security Policy')).length, 2, blocked.join('\n'));
});

const KINDS = ['', '?q=csv', 'problems', 'skill?path=csv-profile', 'skill?path=hostile', 'file?path=csv-profile/scripts/profile.py',
  'file?path=csv-profile/SKILL.md', 'explain?code=yaml-syntax', 'skill?path=nowhere'];

for (const width of [320, 768]) {
  test(`nothing is wider than ${width} pixels`, async ({ page, url }) => {
    for (const at of KINDS) {
      await page.goto(url + at);
      const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(wide <= room, `${at}: ${wide} in ${room}`);
    }
  }, { viewport: { width, height: 640 }, mayFail: [404] });
}

for (const colorScheme of ['light', 'dark']) {
  test(`it is ${colorScheme}, and fit for everybody`, async ({ page, url }) => {
    write('broken/SKILL.md', skillMd('broken', 'a: b'));
    write('odd/SKILL.md', '---\nname: odd\ndescription: Odd.\nversion: 1\n---\n| a | b |\n|---|---|\n| 1 | 2 |\n');
    for (const at of [...KINDS, 'skill?path=odd']) {
      await page.goto(url + at);
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
      assert.equal(paper.every((channel) => channel > 200), colorScheme === 'light', at);
      assert.equal(paper.every((channel) => channel < 60), colorScheme === 'dark', at);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      const grave = violations.filter(({ impact }) => ['serious', 'critical', 'moderate'].includes(impact));
      assert.deepEqual(grave.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`), [], at);
    }
  }, { colorScheme, mayFail: [404] });
}

test('it works below a path of a proxy', async ({ page, prefixed }) => {
  await page.goto(prefixed);
  await followed(page);
  assert.equal(page.url(), `${prefixed}/`);
  await page.getByRole('searchbox').fill('csv-profile');
  await said(page, '1 of');
  await page.getByRole('link', { name: 'csv-profile' }).click();
  await followed(page);
  await page.getByRole('link', { name: 'scripts/profile.py' }).first().click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  const file = await (await downloading).path();
  assert.deepEqual(fs.readFileSync(file), fs.readFileSync(path.join(example, 'csv-profile/scripts/profile.py')));
  await page.getByRole('link', { name: 'Skills' }).first().click();
  await followed(page);
  write('proxied/SKILL.md', skillMd('proxied', 'Told through a proxy.'));
  await page.getByText('Told through a proxy.').waitFor();
  fs.rmSync(path.join(skills, 'proxied'), { recursive: true });
}, { prefix: '/team/skills' });

/** Runs one test; gives what is wrong. */
async function run({ run, options: { prefix, mayFail = [], ...options } }) {
  const front = prefix && (await proxy(server.url, prefix));
  const base = front?.url ?? (mayFail.includes('request') ? 'http://127.0.0.1' : server.url);
  const { context, page, wrong } = await open(options, base);
  try {
    await run({ page, wrong, url: server.url, prefixed: front?.url });
    return wrong.filter((what) => !mayFail.some((words) => what.includes(String(words)))).join('\n');
  } catch (error) {
    return [error.stack, ...wrong].join('\n');
  } finally {
    await context.close();
    await front?.stop();
  }
}

/** The pictures of the documentation. */
async function picture(directory) {
  fs.rmSync(skills, { recursive: true });
  fs.cpSync(example, skills, { recursive: true });
  write('react-guide/SKILL.md', skillMd('react-guide', 'Use when: writing React components'));
  const pictures = [
    ['page', '', { viewport: { width: 1000, height: 700 }, colorScheme: 'light' }],
    ['page-phone', 'skill?path=csv-profile', { viewport: { width: 360, height: 830 }, colorScheme: 'dark', hasTouch: true, isMobile: true }],
  ];
  for (const [name, at, options] of pictures) {
    const { context, page } = await open(options, server.url);
    await page.goto(server.url);
    await page.locator('.finding.error').waitFor();
    await page.goto(server.url + at);
    await followed(page);
    await page.screenshot({ path: path.join(directory, `${name}.png`) });
    await context.close();
  }
}

const failures = [];
for (const test of tests) {
  const why = await run(test);
  console.log(`  ${test.name}: ${why ? 'failed' : 'passed'}`);
  if (why) failures.push(`${test.name}:\n${why}`);
}
if (screenshots) await picture(screenshots);
await browser.close();
await server.stop();
fs.rmSync(work, { recursive: true });
for (const failure of failures) console.log(`FAILED page: ${failure}`);
console.log(`page: ${tests.length - failures.length} of ${tests.length} passed`);
process.exitCode = failures.length ? 1 : 0;
