/**
 * A page for people in place of an answer: of Cloudflare or of a gateway without a back end, with 200, 403 or 404
 * (github.com/wevm/viem/issues/2775, github.com/MetaMask/metamask-extension/issues/1477: "Unexpected token <").
 */
import { everywhere, onReplies, type Quirk } from '../quirk.ts';

export interface HtmlBodySettings {
  /** Default: 200. */
  readonly status?: number;
}

const body = '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body></body></html>';

export const htmlBody: Quirk<HtmlBodySettings> = {
  families: everywhere,
  says: 'HTML instead of an answer',
  begin: ({ status = 200 }) => onReplies(async () => ({ status, headers: { 'content-type': 'text/html' }, body })),
};
