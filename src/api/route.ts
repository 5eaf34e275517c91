/** The declarative form of an endpoint. Router, validation, 405 with Allow and the OpenAPI document are all made from it. */
import type { Static, TSchema } from 'typebox';
import type { By } from '../../commands/handle.ts';
import type { Refusal } from '../../domain/decider.ts';
import type { Asker } from '../accounts/accounts.ts';
import type { Auth, CallerOf } from './callers.ts';
import type { ErrorCode } from './errors.ts';
import type { Upload } from './input.ts';
import type { Place } from './middleware.ts';
import type { Streamed } from './stream.ts';

export interface ApiRequest<A extends Auth, P, Q, B> {
  readonly caller: CallerOf<A>;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** What its events say of who caused them. */
  readonly by: By;
  readonly asker: RequestAsker;
  readonly waiting: Waiting;
}

/** Where the request came from, for those that nobody has signed. */
export type RequestAsker = Pick<Asker, 'address' | 'userAgent'>;

/** For requests that are answered when something happens. */
export interface Waiting extends Place {
  /** Aborts when the caller has gone away, or has been answered. */
  readonly away: AbortSignal;
}

/** Objects are sent as JSON; text and bytes as `type` says. */
export interface Answer {
  readonly status: number;
  readonly body: object | string | Uint8Array;
  readonly type?: string;
  /** Null takes away one that every answer has. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

export type AnswerHeader = 'Location' | 'Idempotent-Replayed' | 'Retry-After';

export interface AnswerSpec {
  readonly description: string;
  /** Left out for answers that are not JSON. */
  readonly schema?: TSchema;
  /** Of an answer without a schema; text/plain when left out. */
  readonly type?: string;
  /** Besides those that every answer has. */
  readonly headers?: readonly AnswerHeader[];
}

export interface Route<
  A extends Auth = Auth,
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
> {
  readonly method: 'get' | 'post';
  /** In OpenAPI's form: `/payments/{id}`. */
  readonly path: string;
  readonly auth: A;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The body is a file: its handler gets the bytes as they came. */
  readonly upload?: Upload;
  readonly answers: Readonly<Record<number, AnswerSpec>>;
  /** What may go wrong here besides what can go wrong everywhere. */
  readonly errors: readonly ErrorCode[];
  /** Null for pages and files, which the document leaves out. */
  readonly doc: Documentation | null;
  /** Pages of any origin may call it without a key (CORS, never with credentials). */
  readonly anyOrigin?: boolean;
  /** Without a key, a good request is counted as a payment that a stranger creates. */
  readonly creates?: boolean;
  /** Answered even when the service is overloaded, and however often somebody asks. */
  readonly always?: boolean;
  handle(request: ApiRequest<A, Static<P>, Static<Q>, Static<B>>): Promise<Answer | Streamed | Refusal>;
}

export interface Documentation {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
}

/** A route with its schemas' types forgotten: what tables of routes hold. */
export type AnyRoute = Omit<Route, 'handle'> & {
  handle(request: ApiRequest<Auth, unknown, unknown, unknown>): Promise<Answer | Streamed | Refusal>;
};

/** Lets the handler's types follow from the schemas. The router only calls it with what they have accepted. */
export const route = <A extends Auth, P extends TSchema, Q extends TSchema, B extends TSchema>(
  definition: Route<A, P, Q, B>,
): AnyRoute => definition as unknown as AnyRoute;

export const ok = (body: object, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: 200,
  body,
  headers,
});
