/** The declarative form of a page of the dashboard. Its router, its checks and its error pages are made from it. */

import type { VNode } from 'preact';
import type { Static, TSchema } from 'typebox';
import type { By } from '../../commands/handle.ts';
import type { Refusal } from '../../domain/decider.ts';
import type { Owner, SignedIn } from '../../src/api/callers.ts';
import type { Answer } from '../../src/api/router.ts';
import type { Streamed } from '../../src/api/stream.ts';
import type { FormState } from '../parts/field.ts';
import type { Flash, Frame } from '../parts/frame.ts';
import type { Cookies, Notice, SetCookie } from './cookies.ts';
import type { UploadedFile, UploadLimits } from './upload.ts';

/** anyone: signed in or not. person: somebody who has signed in. owner: the same, and the path's {appId} is theirs. */
export type Audience = 'anyone' | 'person' | 'owner';
interface Visitors {
  anyone: SignedIn | null;
  person: SignedIn;
  owner: Owner;
}
export type VisitorOf<A extends Audience> = Visitors[A];

export interface Visit<A extends Audience, P = unknown, Q = unknown> {
  readonly visitor: VisitorOf<A>;
  readonly params: P;
  readonly query: Q;
  readonly cookies: Cookies;
  /** What the visitor is counted under where strangers are limited. */
  readonly address: string;
  /** The languages that the browser likes, as its header Accept-Language says. */
  readonly languages: string | null;
  /** The browser as it calls itself, cut short. */
  readonly agent: string | null;
  /** What the request before this one did, told once. */
  readonly flash: Flash | null;
  /** Ends when the browser no longer waits. */
  readonly gone: AbortSignal;
  readonly by: By;
}

export interface Shown {
  readonly page: VNode;
  readonly status?: number;
  readonly headers?: Answer['headers'];
  readonly set?: readonly SetCookie[];
}

/** 303: what a POST did is shown by a GET, so that nothing is done again by a reload. */
export interface Leads {
  readonly to: string;
  readonly told?: Notice;
  readonly set?: readonly SetCookie[];
}

export type PageAnswer = Shown | Leads | Streamed | Answer;

interface Common<A extends Audience, P extends TSchema> {
  /** Like a route's: `/dashboard/apps/{appId}/keys`. */
  readonly path: string;
  readonly audience: A;
  readonly params?: P;
}

export interface Page<A extends Audience = Audience, P extends TSchema = TSchema, Q extends TSchema = TSchema>
  extends Common<A, P> {
  readonly query?: Q;
  /** It may stay open for long, so it takes no place among the requests in progress and has a bound of its own. */
  readonly stays?: boolean;
  show(visit: Visit<A, Static<P>, Static<Q>>): Promise<PageAnswer>;
}

export interface Form<A extends Audience = Audience, P extends TSchema = TSchema, F extends TSchema = TSchema>
  extends Common<A, P> {
  /** An object of texts. Fields that are left empty are absent. */
  readonly fields: F;
  /** Whoever sends it without being signed in makes a payment: counted like any stranger's. */
  readonly creates?: boolean;
  /** Files are taken by this form alone, one under this name. */
  readonly file?: UploadLimits;
  /** Where a command points when it refuses, and which field that is; `/name` is the field `name` without being told. */
  readonly pointers?: Readonly<Record<string, string>>;
  act(visit: Submitted<A, Static<P>, Static<F>>): Promise<PageAnswer | Refusal>;
  /** The page of the form again, with what was entered and what is wrong with it. */
  again(visit: Visit<A, Static<P>>, state: FormState): Promise<Shown | Leads>;
}

export interface Submitted<A extends Audience, P, F> extends Visit<A, P> {
  readonly fields: F;
  /** Null for a form without files, and when none was chosen. */
  readonly file: UploadedFile | null;
}

/** Pages and forms with their schemas' types forgotten: what tables of pages hold. */
export type AnyPage = Omit<Page, 'show'> & {
  readonly method: 'get';
  show(visit: Visit<Audience>): Promise<PageAnswer>;
};
export type AnyForm = Omit<Form, 'act' | 'again'> & {
  readonly method: 'post';
  act(visit: Submitted<Audience, unknown, unknown>): Promise<PageAnswer | Refusal>;
  again(visit: Visit<Audience>, state: FormState): Promise<Shown | Leads>;
};

/** Both let the handler's types follow from the schemas. The router only calls it with what they have accepted. */
export const page = <A extends Audience, P extends TSchema, Q extends TSchema>(definition: Page<A, P, Q>): AnyPage =>
  ({ method: 'get', ...definition }) as unknown as AnyPage;

export const form = <A extends Audience, P extends TSchema, F extends TSchema>(definition: Form<A, P, F>): AnyForm =>
  ({ method: 'post', ...definition }) as unknown as AnyForm;

/**
 * Returns the cause of an event for the owner of an app. Nobody learns another person's e-mail.
 * @param cause such as `developer:<id>`, `operator:<name>`, `key:<id>`
 */
export function whoDid(cause: string, { developerId }: SignedIn, { person }: Pick<Frame, 'person'>): string {
  const [kind, who = ''] = cause.split(':', 2);
  if (kind === 'developer') return who === developerId ? (person ?? 'you') : 'another owner';
  if (kind === 'operator') return 'the operator';
  if (kind === 'key') return 'an API key';
  return 'the service';
}
