/** JSON-RPC as the weather sees it pass: one call, its answer or refusal, and the HTTP reply that carries it. */
export type Params = readonly unknown[] | Fields;
export type Fields = Readonly<Record<string, unknown>>;

export interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: Params;
}

/** Calls the next layer: the next quirk, and finally the node. @throws RpcError */
export type Ask = (method: string, params: Params) => Promise<unknown>;

/** Reply over HTTP. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The connection ends after this many bytes of the body. */
  readonly cutAfter_bytes?: number;
}

export const jsonHeaders = { 'content-type': 'application/json' };

/** The fields of an object; none of anything else. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The options of a Solana call: the object among its parameters. */
export const optionsOf = ({ params }: Call): Fields => fieldsOf(listOf(params).find((each) => isObject(each)));

/** The same call with some of its options changed. */
export const withOptions = ({ params }: Call, changed: Fields): Params =>
  listOf(params).map((each) => (isObject(each) ? { ...fieldsOf(each), ...changed } : each));

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

export const hex = (value: bigint): string => `0x${value.toString(16)}`;

/** A quantity in hex; undefined for anything else, tags like `latest` among them. */
export const quantityOf = (value: unknown): bigint | undefined =>
  typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value) ? BigInt(value) : undefined;
