/** Stylesheet and modules of pages: read once, identified by their content. */
import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { encodingOf } from '../../src/api/accept.ts';
import { localsOf } from '../../src/api/middleware.ts';
import type { Admission } from '../../src/api/rateLimits.ts';
import { send } from '../../src/api/router.ts';
import { assets, compressed, type Encoding, encodings, readAssetName, type WebAsset } from '../parts/assets.ts';
import { noSuchPage } from './router.ts';

interface Form {
  readonly content: Uint8Array;
  /** A strong entity tag: each encoding has its own (RFC 9110, 8.8.3.3). */
  readonly etag: string;
  readonly encoding: Encoding | null;
}

type Forms = ReadonlyMap<Encoding | null, Form>;

export const filesPath = '/dashboard/assets/{file}';

async function formsOf({ content }: WebAsset): Promise<Forms> {
  const digest = createHash('sha256').update(content).digest('base64url');
  const forms: Form[] = [{ content, etag: `"${digest}"`, encoding: null }];
  const smaller = await compressed(content);
  for (const encoding of encodings) {
    const bytes = smaller[encoding];
    if (bytes.byteLength < content.byteLength)
      forms.push({ content: bytes, etag: `"${digest}-${encoding}"`, encoding });
  }
  return new Map(forms.map((form) => [form.encoding, form]));
}

const made = new Map<string, Promise<Forms>>();

/** Compresses an asset at its first request: a start does not wait for compressions that no browser needs yet. */
function makeForms(asset: WebAsset): Promise<Forms> {
  const known = made.get(asset.file);
  if (known) return known;
  const forms = formsOf(asset);
  made.set(asset.file, forms);
  return forms;
}

/** One year, the longest that caches take seriously. */
const kept = 'public, max-age=31536000, immutable';

/**
 * Answers `…/:file`. A browser revalidates its copy each time, so a new version is used at once, also while instances of two versions
 * answer.
 */
export function serveFiles(admission: Pick<Admission, 'ofStranger'>): RequestHandler {
  return async (request, response) => {
    localsOf(response).route = filesPath;
    await admission.ofStranger(request, response);
    const asked = String(request.params['file']);
    const asset = assets.get(readAssetName(asked).file);
    const forms = asset && (await makeForms(asset));
    const accepted = encodingOf(request.headers['accept-encoding'], encodings);
    const form = forms?.get(accepted) ?? forms?.get(null);
    if (!asset || !form) throw noSuchPage();
    const headers = {
      'Cache-Control': asked === asset.name ? kept : 'no-cache',
      ETag: form.etag,
      Vary: 'Accept-Encoding',
      ...(form.encoding !== null && { 'Content-Encoding': form.encoding }),
    };
    const { type } = asset;
    const held = holds(request.headers['if-none-match'], form.etag);
    send(
      response,
      held ? { status: 304, body: '', type, headers } : { status: 200, body: form.content, type, headers },
    );
  };
}

/** Entity tags of If-None-Match that are compared: a browser keeps one per file. */
const tagsMax = 16;

const holds = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',', tagsMax).some((tag) => tag.trim().replace(/^W\//, '') === etag);
