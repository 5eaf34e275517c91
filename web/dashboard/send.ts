/** Answers of pages to the browser. */
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { encodingOf } from '../../src/api/accept.ts';
import { localsOf } from '../../src/api/middleware.ts';
import { send } from '../../src/api/router.ts';
import { sendPieces } from '../../src/api/stream.ts';
import { documentOf } from '../parts/html.ts';
import { cookieText, noNotice, noticeCookie, type SetCookie } from './cookies.ts';
import type { PageAnswer, Visit } from './page.ts';

export const htmlType = 'text/html; charset=utf-8';

/** @param visit its notice, if any, is displayed by the page */
export async function sendPage(
  request: Request,
  response: Response,
  answer: PageAnswer,
  visit?: Pick<Visit<'anyone'>, 'flash'>,
): Promise<void> {
  if ('pieces' in answer) return sendPieces(request, response, answer);
  if ('to' in answer) {
    setCookies(response, [...(answer.set ?? []), ...(answer.told ? [noticeCookie(answer.told)] : [])]);
    return send(response, { status: 303, body: '', type: htmlType, headers: { Location: answer.to } });
  }
  if ('page' in answer) {
    setCookies(response, [...(answer.set ?? []), ...(visit?.flash ? [noNotice] : [])]);
    const { page, status = 200, headers = {} } = answer;
    const { body, encoding } = compressedFor(request, response, documentOf(page));
    return send(response, { status, headers: { ...headers, ...encoding }, body, type: htmlType });
  }
  send(response, answer);
}

/** Below this size, compressing saves no packet. */
const compressedFrom_bytes = 1_400;

/** A page is another one at each request, so it is compressed quickly rather than well. */
function compressedFor(request: Request, response: Response, text: string) {
  const isAccepted = encodingOf(request.headers['accept-encoding'], ['gzip']) !== null;
  if (!localsOf(response).isCompressible || !isAccepted || text.length < compressedFrom_bytes)
    return { body: text, encoding: {} };
  return { body: gzipSync(text, { level: 5 }), encoding: { 'Content-Encoding': 'gzip' } };
}

function setCookies(response: Response, cookies: readonly SetCookie[]): void {
  if (cookies.length > 0) response.setHeader('Set-Cookie', cookies.map(cookieText));
}
