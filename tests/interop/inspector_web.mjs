// MCP Inspector's web client in a real browser: it connects, lists every skill without a conformance error, and verifies
// every file.
//
// usage: node inspector_web.mjs PAGE SKILLS      env CHROMIUM: the browser (default: /usr/bin/chromium)
import { chromium } from 'playwright-core';

const [page_url, wanted] = process.argv.slice(2);
const PATIENCE = 30_000;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1200 } });
  page.setDefaultTimeout(PATIENCE);
  // Its fonts come from elsewhere, which a test does not ask.
  await page.route(url => url.origin !== new URL(page_url).origin, route => route.abort());
  await page.goto(page_url);
  await page.getByRole('switch', { name: /^Connect or disconnect/ }).click({ force: true });
  await page.getByText('Connected', { exact: true }).waitFor();
  await page.getByText('Skills', { exact: true }).first().click();
  await page.getByText(`${wanted} skill(s) over 1 page(s)`).waitFor();
  const uris = (await page.getByText(/^skill:\/\/.*\/SKILL\.md$/).allInnerTexts()).map(text => text.trim());
  let files = 0;
  for (const uri of new Set(uris)) {
    await page.getByText(uri, { exact: true }).first().click();
    await page.getByText('0 error(s), 0 warning(s)', { exact: false }).waitFor();
    const resources = page.getByText(/^\d+ file\(s\), \d+ bytes$/i);
    const count = parseInt(await resources.innerText());
    await page.getByText('Verify all').click();
    const verified = page.getByText(/^verified$/i);
    await verified.nth(count - 1).waitFor();
    files += count;
  }
  console.log(JSON.stringify({ skills: new Set(uris).size, files }));
} finally {
  await browser.close();
}
