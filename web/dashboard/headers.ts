/** What pages send besides every answer's headers. */
import type { RequestHandler } from 'express';
import { contentSecurityPolicy, localsOf } from '../../src/api/middleware.ts';

const headers = new Map([
  // Forms are sent here and nowhere else.
  ['Content-Security-Policy', contentSecurityPolicy({ formAction: ["'self'"] })],
  // With `no-referrer` browsers hide the origin of our own forms; to other sites this says as little.
  ['Referrer-Policy', 'same-origin'],
  ['Vary', 'Cookie, Accept'],
]);

/** Answers from here on are for people: so are their errors. */
export const asPage: RequestHandler = (_request, response, next) => {
  localsOf(response).isPage = true;
  response.setHeaders(headers);
  next();
};
