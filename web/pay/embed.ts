/** The script that merchants put on their own pages: opens payment pages there, in a frame. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnyPage, page } from '../dashboard/page.ts';

const file = join(import.meta.dirname, '../embed/embed.js');

/** Modules are asked for with CORS (HTML standard, 8.1.4.2), so that this alone may be read from everywhere. */
const headers = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'public, max-age=600',
};

export function embedScript(): AnyPage {
  const body = readFileSync(file);
  return page({
    path: '/embed.js',
    audience: 'anyone',
    show: async () => ({ status: 200, type: 'text/javascript; charset=utf-8', body, headers }),
  });
}
