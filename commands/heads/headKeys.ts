import { keySinceOf } from '../../domain/heads/heads.ts';
import { entriesFrom, type HeadsReading, newestEntry } from './newest.ts';

export interface HeadKeySince {
  readonly publicKey: string;
  /** The entry that brought it. */
  readonly since: number;
}

/** Of so many at most are told. */
const keysMax = 100;

/** Keys that heads were signed with, newest first. Each entry says since when its key is in force: none in between is read. */
export async function headKeysSince(reading: HeadsReading): Promise<readonly HeadKeySince[]> {
  const keys: HeadKeySince[] = [];
  let entry = await newestEntry(reading);
  while (entry && keys.length < keysMax) {
    const since = keySinceOf(entry);
    keys.push({ publicKey: entry.data.publicKey, since });
    [entry = null] = since > 1 ? await entriesFrom(reading, since - 1, 1) : [];
  }
  return keys;
}
