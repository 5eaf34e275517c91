/**
 * Weight of payment pages: `node test/api/payWeight.ts` prints the rows of docs/performance.md. The spec of the pages
 * asserts the bounds with the same measure.
 */
import assert from 'node:assert/strict';
import { goodRequest, startWorld, type World } from './world.ts';

export interface Weight {
  readonly files: number;
  /** Bytes of the bodies on the wire. */
  readonly bytes: number;
}

/** Sums a page and all that a browser without a cache loads for it: the files that it names, and their imports. The shop's logo does not count. */
export async function weightOf(url: string, encoding: 'identity' | 'gzip, deflate, br'): Promise<Weight> {
  const { origin, pathname } = new URL(url);
  const seen = new Set<string>();
  const weigh = async (file: string): Promise<number> => {
    if (seen.has(file)) return 0;
    seen.add(file);
    const headers = { accept: 'text/html', 'accept-encoding': encoding };
    const answer = await fetch(`${origin}${file}`, { headers });
    assert.equal(answer.status, 200, file);
    // fetch decodes the body, and keeps the sent content-length.
    const length = Number(answer.headers.get('content-length'));
    const text = await answer.text();
    const loaded = [...text.matchAll(/(?:href|src)="(\/(?:dashboard\/assets|colours)\/[^"]+)"/g)];
    const imported = [...text.matchAll(/'\.\/([\w.-]+\.js)'/g)].map((found) => `/dashboard/assets/${found[1]}`);
    const others = await Promise.all([...loaded.map(([, path = '']) => path), ...imported].map(weigh));
    return others.reduce((sum, bytes) => sum + bytes, length);
  };
  const bytes = await weigh(pathname);
  return { files: seen.size, bytes };
}

/** Weighed pages by description: a usual one, and one with every possible part. */
export async function weighedPages({ call, keys }: Pick<World, 'call' | 'keys'>): Promise<Record<string, string>> {
  const linkTo = async (more: object): Promise<string> => {
    const { body } = await call('POST', '/payment-api/payments', { headers: keys.wallet, body: goodRequest(more) });
    return body.paymentLink;
  };
  const payFrom = ['137', '1', '42161', '56', '1500'].map((chainId) => ({ chainId, tokenSymbol: 'USDC' }));
  const lineItems = Array.from({ length: 10 }, (_, nth) => ({
    name: `Tea, sort ${nth}`,
    quantity: 1,
    amount: '1.00',
  }));
  return {
    'to pay on one chain': await linkTo({}),
    'to pay on one of six chains, ten line items': await linkTo({
      payFrom,
      display: { title: 'Ten sorts', lineItems },
    }),
  };
}

if (import.meta.main) {
  const world = await startWorld();
  const kB = (bytes: number) => (bytes / 1_000).toFixed(1);
  for (const [page, url] of Object.entries(await weighedPages(world))) {
    const [plain, small] = [await weightOf(url, 'identity'), await weightOf(url, 'gzip, deflate, br')];
    process.stdout.write(`| ${page} | ${plain.files} | ${kB(plain.bytes)} | ${kB(small.bytes)} |\n`);
  }
  await world.stop();
}
