/** JSON as nodes write it: whole numbers of any size. */

interface RawJson {
  /** Text that is inserted into JSON unchanged. */
  rawJSON(text: string): unknown;
}

const { rawJSON } = JSON as unknown as RawJson;

export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? rawJSON(String(each)) : each));
