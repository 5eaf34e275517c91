import { chromium } from 'playwright-core';
import { installed } from '/work/wt-page43/test/support/chromium.ts';
import { servePages } from '/work/wt-page43/test/web/pageServer.ts';
import { samplePages } from '/work/wt-page43/test/web/samplePages.ts';
const pages=samplePages();
const name=Object.keys(pages).find(n=>n==='paymentStarted')??Object.keys(pages).filter(n=>n.startsWith('payment'));
console.log(name, Object.keys(pages).filter(n=>n.startsWith('payment')));
const server=await servePages(pages);
const browser=await chromium.launch({executablePath:installed(),args:['--no-sandbox','--disable-gpu']});
for (const w of [390,1280]){const c=await browser.newContext({viewport:{width:w,height:700}});
const page=await c.newPage();
for(const n of process.argv.slice(2)){await page.goto(server.url(n));await page.screenshot({path:`/tmp/p43s/dash-${n}-${w}.png`});}}
await browser.close(); await server[Symbol.asyncDispose]();
