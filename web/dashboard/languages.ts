/** The language of the dashboard: chosen by the person, else the browser's, else English. POST: language, next. */
import type { IncomingMessage } from 'node:http';
import Type from 'typebox';
import { oneOf } from '../../src/api/schemas/base.ts';
import { languageOf, languages } from '../parts/language.ts';
import { paths } from '../parts/paths.ts';
import type { Reading } from '../parts/say.ts';
import type { Cookies } from './cookies.ts';
import { entry, fields } from './forms.ts';
import { type AnyForm, form } from './page.ts';
import { orHome } from './signIn.ts';

/** A choice is kept for a year. */
const choiceLife_s = 31_536_000;

export function readingOf(
  { method, headers, originalUrl }: Pick<IncomingMessage, 'method' | 'headers'> & { readonly originalUrl: string },
  cookies: Cookies,
): Reading {
  const language = languageOf(cookies.language, headers['accept-language'] ?? null);
  return { language, url: method === 'GET' ? originalUrl : null };
}

/** Keeps the choice in a cookie, so it also works before a person signs in, and leads back to the page. */
export const languageForm: AnyForm = form({
  path: paths.language,
  audience: 'anyone',
  fields: fields({ language: oneOf(languages), next: Type.Optional(entry(2_000)) }),
  act: async ({ fields: { language, next } }) => ({
    to: orHome(next),
    set: [{ name: 'language', value: language, life_s: choiceLife_s }],
  }),
  again: async () => ({ to: paths.home }),
});
