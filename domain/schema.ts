/** Building blocks of stored event schemas. */
import Type, { type TSchema } from 'typebox';
import type { Instant } from './time.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Stored events hold what their schema names and nothing else. */
export const closed = { additionalProperties: false } as const;

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const oneOf = <const T extends readonly (string | number)[]>(values: T) =>
  Type.Unsafe<T[number]>({ type: typeof values[0] === 'number' ? 'integer' : 'string', enum: [...values] });

export const Text = (maxLength: number) => Type.String({ maxLength });
export const Id = Type.String({ minLength: 1, maxLength: 128 });
/** ISO 8601 UTC with milliseconds. */
export const Time = Type.Unsafe<Instant>({ type: 'string', minLength: 24, maxLength: 24 });
/** Any JSON object; what may be in it is checked before it is decided on. */
export const JsonObject = Type.Unsafe<{ readonly [name: string]: Json }>({ type: 'object' });
export const Url = Type.String({ minLength: 1, maxLength: 2_048 });
/** SHA-256 as 64 hex digits. */
export const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });
/** An amount in smallest units. */
export const Amount = Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' });
/** One that may be negative. */
export const SignedAmount = Type.String({ pattern: '^(0|-?[1-9][0-9]{0,77})$' });
export const Address = Type.String({ minLength: 1, maxLength: 128 });
/** A transaction's or block's identity on its chain. */
export const Hash = Type.String({ minLength: 1, maxLength: 128 });
/** A block number, nonce or sequence. */
export const Height = Type.String({ pattern: '^[0-9]{1,20}$' });

/** Bring data of an older schema version to the next one: `<type>@<version>` → its data one version later. `at`: when it was written. */
export type Upcasters = Readonly<Record<string, (data: object, at: Instant) => object>>;
