/** Generated calls and transactions. Each has at most one fault, because nodes check parameters in different orders. */
import fc from 'fast-check';
import type { Hex } from 'viem';
import type { Asked } from './evmComparison.ts';
import { type Fields, gwei } from './evmTransactions.ts';

const hexOf = (bytes: { readonly min: number; readonly max: number }): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: bytes.min, maxLength: bytes.max })
    .map((values): Hex => `0x${Buffer.from(values).toString('hex')}`);
const hash = hexOf({ min: 32, max: 32 });
const address = hexOf({ min: 20, max: 20 });
const quantity = (min: bigint, max: bigint) => fc.bigInt({ min, max }).map((value): Hex => `0x${value.toString(16)}`);
/** Blocks that both nodes have. Only the first one is certain to be empty on both. */
const height = quantity(0n, 2n);
const first = fc.constant<Hex>('0x0');

/** A parameter, and what it is in the words of the table of calls. */
interface Parameter {
  readonly about: string;
  readonly value: unknown;
}

const of = (about: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<Parameter> =>
  values.map((value) => ({ about, value }));

const block = fc.oneof(
  of('a tag', fc.constantFrom('latest', 'earliest', 'safe', 'finalized')),
  of('a block by number', first),
  of('a block above the newest', quantity(2n ** 24n, 2n ** 63n - 1n)),
  of('a number of 72 bits', quantity(2n ** 64n, 2n ** 72n)),
  of('a number with leading zeros', fc.constantFrom('0x00', '0x000', '0x0000')),
  of(
    'a word that is no tag',
    fc.stringMatching(/^[g-z]{1,12}$/).filter((word) => word !== 'pending'),
  ),
);
const hashes = fc.oneof(
  of('an unknown hash', hash),
  of('a short hash', hexOf({ min: 0, max: 31 })),
  of('a long hash', hexOf({ min: 33, max: 40 })),
);
const accounts = fc.oneof(
  of('an account that nobody uses', address),
  of('a short account', hexOf({ min: 0, max: 19 })),
  of('a long account', hexOf({ min: 21, max: 30 })),
);

const topic = fc.oneof(fc.constant(null), hash, fc.array(hash, { maxLength: 4 }));
const criteria = fc.record({
  address: fc.oneof(address, fc.array(address, { maxLength: 5 })),
  topics: fc.array(topic, { maxLength: 4 }),
});
const filters = fc.oneof(
  of(
    'a generated filter',
    fc.tuple(criteria, height).map(([filter, from]) => ({ ...filter, fromBlock: from })),
  ),
  of(
    'a block hash that is unknown',
    fc.tuple(criteria, hash).map(([filter, blockHash]) => ({ ...filter, blockHash })),
  ),
  of(
    'five topics',
    fc.array(topic, { minLength: 5, maxLength: 8 }).map((topics) => ({ topics })),
  ),
);

const somebody = `0x${'ab'.repeat(20)}`;

const call = (method: string, values: fc.Arbitrary<Parameter>, paramsOf: (value: unknown) => unknown) =>
  values.map(({ about, value }): Asked => ({ method, about, params: paramsOf(value) }));

export const generatedCalls: fc.Arbitrary<Asked> = fc.oneof(
  call('eth_getBlockByNumber', block, (value) => [value, false]),
  call('eth_getBlockReceipts', block, (value) => [value]),
  ...['eth_getTransactionCount', 'eth_getBalance', 'eth_getCode'].flatMap((method) => [
    call(method, block, (value) => [somebody, value]),
    call(method, accounts, (value) => [value, 'latest']),
  ]),
  ...['eth_getTransactionByHash', 'eth_getTransactionReceipt'].map((method) =>
    call(method, hashes, (value) => [value]),
  ),
  call('eth_getBlockByHash', hashes, (value) => [value, true]),
  call('eth_getLogs', filters, (value) => [value]),
);

const push = fc.uint8Array({ minLength: 1, maxLength: 32 }).map((bytes) => {
  const size = (0x5f + bytes.length).toString(16);
  return `${size}${Buffer.from(bytes).toString('hex')}`;
});
/** Instructions that depend on neither block nor account: arithmetic, memory, storage, jumps, ends, and invalid instructions. */
const instruction = fc.constantFrom(
  ...'00 01 02 03 04 05 06 07 08 09 0a 0b 0c 10 11 14 15 16 19 1a 1b 20 21 35 36 37 39 3d 3e'.split(' '),
  ...'50 51 52 53 54 55 56 57 58 59 5b 5c 5d 5e 5f 80 81 8f 90 91 9f a0 a1 f3 fd fe ef f0 fa'.split(' '),
);
const programs = fc
  .array(fc.oneof({ weight: 2, arbitrary: push }, { weight: 3, arbitrary: instruction }), {
    minLength: 1,
    maxLength: 24,
  })
  .map((parts): Hex => `0x${parts.join('')}`);

/** Runs as a contract's creation. */
export const generatedPrograms: fc.Arbitrary<Asked> = programs.map((data) => ({
  method: 'eth_call',
  about: 'generated code',
  params: [{ data, gas: '0x30d40' }, 'latest'],
}));

export interface Transaction {
  readonly about: string;
  readonly changes: Partial<Fields>;
}

/** The sender chooses the nonce: a repeated one is a replacement. */
export const generatedTransactions: fc.Arbitrary<Transaction> = fc.oneof(
  fc.bigInt({ min: 0n, max: 20_999n }).map((gas) => ({ about: 'too little gas', changes: { gas } })),
  fc
    .bigInt({ min: 61_000_000n, max: 90_000_000n })
    .map((gas) => ({ about: 'more gas than a block has', changes: { gas } })),
  fc
    .bigInt({ min: 10n ** 21n, max: 2n ** 255n })
    .map((value) => ({ about: 'more coin than is held', changes: { value } })),
  fc.integer({ min: 2, max: 2 ** 31 }).map((chainId) => ({ about: 'another chain', changes: { chainId } })),
  fc
    .tuple(
      fc.bigInt({ min: 1n, max: gwei }),
      fc.bigInt({ min: 10n * gwei, max: 40n * gwei }),
      hexOf({ min: 0, max: 40 }),
    )
    .map(([maxPriorityFeePerGas, maxFeePerGas, data]) => ({
      about: 'a nonce that is too high',
      changes: { maxPriorityFeePerGas, maxFeePerGas, data, gas: 24_000n },
    })),
);
