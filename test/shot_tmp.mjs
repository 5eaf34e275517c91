import { chromium } from 'playwright-core';
import { installed } from '/work/wt-page43/test/support/chromium.ts';
import { servePages } from '/work/wt-page43/test/web/pageServer.ts';
import { payPages } from '/work/wt-page43/test/web/samples/payPages.ts';
const [lang,width,scheme,...names]=process.argv.slice(2);
const server=await servePages(payPages(lang));
const browser=await chromium.launch({executablePath:installed(),args:['--no-sandbox','--disable-gpu']});
const c=await browser.newContext({viewport:{width:+width,height:900},colorScheme:scheme});
const page=await c.newPage();
for(const n of names){await page.goto(server.url(n));await page.evaluate(()=>document.querySelectorAll('details').forEach(d=>d.open=true));await page.screenshot({path:`/tmp/p43s/${n}-${lang}-${width}-${scheme}-open.png`,fullPage:true});}
await browser.close(); await server[Symbol.asyncDispose]();
