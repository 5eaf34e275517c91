/** Stylesheet and modules of pages: read once, identified by their content. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { RequestHandler } from 'express';
import { localsOf } from '../../src/api/middleware.ts';
import type { Admission } from '../../src/api/rateLimits.ts';
import { send } from '../../src/api/router.ts';
import { noSuchPage } from './router.ts';

interface WebFile {
  readonly content: Uint8Array;
  readonly type: string;
  /** A strong entity tag. */
  readonly etag: string;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
export const filesPath = '/dashboard/assets/{file}';
const web = join(import.meta.dirname, '..');

/** Files of web/ for browsers, by file name. */
function readFiles(): ReadonlyMap<string, WebFile> {
  const paths = readdirSync(web, { recursive: true, encoding: 'utf8' });
  const found = paths.flatMap((path) => {
    const type = types[extname(path)];
    if (type === undefined) return [];
    const content = readFileSync(join(web, path));
    const etag = `"${createHash('sha256').update(content).digest('base64url')}"`;
    return [[basename(path), { content, type, etag }] as const];
  });
  return new Map(found);
}

/**
 * Answers `…/:file`. A browser revalidates its copy each time, so a new version is used at once, also while instances of two versions
 * answer.
 */
export function serveFiles(admission: Pick<Admission, 'ofStranger'>): RequestHandler {
  const files = readFiles();
  return async (request, response) => {
    localsOf(response).route = filesPath;
    await admission.ofStranger(request, response);
    const file = files.get(String(request.params['file']));
    if (!file) throw noSuchPage();
    const { content, type, etag } = file;
    const headers = { 'Cache-Control': 'no-cache', ETag: etag };
    const held = holds(request.headers['if-none-match'], etag);
    send(response, held ? { status: 304, body: '', type, headers } : { status: 200, body: content, type, headers });
  };
}

/** Entity tags of If-None-Match that are compared: a browser keeps one per file. */
const tagsMax = 16;

const holds = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',', tagsMax).some((tag) => tag.trim().replace(/^W\//, '') === etag);
