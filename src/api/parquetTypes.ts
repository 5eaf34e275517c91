/** Types of Parquet columns: money is a decimal, never a float. */
import type { ParquetWriter } from 'hyparquet-writer';
import { epochMs, type Instant } from '../../domain/time.ts';

/**
 * decimal: an exact number as text. position: a whole number of up to 64 bits. time: ISO 8601 UTC with milliseconds. json: its text.
 */
export type Kind = 'text' | 'json' | 'integer' | 'position' | 'boolean' | 'time' | 'decimal';
export type Value = string | number | bigint | boolean | null;

export type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

/** Tokens have up to 18 decimals; 20 digits before the point exceed any token's supply. */
const precision = 38;
export const decimalScale = 18;

export const parquetTypes: Readonly<Record<Kind, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT32' },
  position: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  decimal: {
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: 16,
    converted_type: 'DECIMAL',
    precision,
    scale: decimalScale,
  },
};

export function parquetValue(kind: Kind, value: Value): unknown {
  if (value === null) return null;
  if (kind === 'time') return BigInt(epochMs(String(value) as Instant));
  return kind === 'decimal' ? unscaled(String(value)) : value;
}

/** `-1.5` as -1.5 × 10^18, exactly. @throws Error for a value that does not fit: nothing is rounded */
export function unscaled(text: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+?)0*)?$/.exec(text) ?? [];
  if (whole === '' || fraction.length > decimalScale || whole.length > precision - decimalScale)
    throw new Error(
      `${text} has more than ${precision} digits or more than ${decimalScale} after the point: export csv or ndjson`,
    );
  const digits = BigInt(whole + fraction.padEnd(decimalScale, '0'));
  return sign === '' ? digits : -digits;
}
