/** Replaces node:crypto in the service's own files: the same, with randomness from the seed. */
import { theRun } from '../kernel/run.ts';

export * from 'node:crypto';

export const randomBytes = (count: number): Buffer => Buffer.from(theRun().chance.bytes(count));

export function randomUUID(): `${string}-${string}-${string}-${string}-${string}` {
  const hex = randomBytes(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
