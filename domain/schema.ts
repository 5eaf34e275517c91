/** Building blocks of stored event schemas. */
import Type, { type TSchema } from 'typebox';
import type { Instant } from './time.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Stored events hold the fields of their schema and no others. */
export const closed = { additionalProperties: false } as const;

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const oneOf = <const T extends readonly (string | number)[]>(values: T) =>
  Type.Unsafe<T[number]>({ type: typeof values[0] === 'number' ? 'integer' : 'string', enum: [...values] });

export const Text = (maxLength: number) => Type.String({ maxLength });
export const Id = Type.String({ minLength: 1, maxLength: 128 });
/** ISO 8601 UTC with milliseconds. */
export const Time = Type.Unsafe<Instant>({ type: 'string', minLength: 24, maxLength: 24 });
/** Any JSON object. Its content is checked before the decision. */
export const JsonObject = Type.Unsafe<{ readonly [name: string]: Json }>({ type: 'object' });
export const Url = Type.String({ minLength: 1, maxLength: 2_048 });
/** SHA-256 as 64 hex digits. */
export const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });
/** An amount in smallest units. */
export const Amount = Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' });
/** An amount that may be negative. */
export const SignedAmount = Type.String({ pattern: '^(0|-?[1-9][0-9]{0,77})$' });
export const Address = Type.String({ minLength: 1, maxLength: 128 });
/** A transaction's or block's identity on its chain. */
export const Hash = Type.String({ minLength: 1, maxLength: 128 });
/** A block number, nonce or sequence. */
export const Height = Type.String({ pattern: '^[0-9]{1,20}$' });

/** Upcasters of older schema versions: `<type>@<version>` → the data one version later. `at`: the event's time. */
export type Upcasters = Readonly<Record<string, (data: object, at: Instant) => object>>;
