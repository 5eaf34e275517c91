/** Calls of a Solana node: usual parameters, missing ones, wrong types and extreme values. */
import type { SolanaWorld } from './solanaWorld.ts';

export type CallTable = Readonly<Record<string, readonly unknown[]>>;

/** No transaction has these signatures. */
export const unknownSignatures = [
  '1'.repeat(64),
  '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
] as const;
const [zeros, unknown] = unknownSignatures;
const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const systemProgram = '1'.repeat(32);
/** Later than any slot of a short chain. */
const far = 1_000_000_000;

export const notTexts: readonly unknown[] = [null, 5, {}, [], true, 1.5, -1];
export const notKeys: readonly unknown[] = [...notTexts, '', 'abc', '0x12', 'O'.repeat(44), `${tokenProgram}1111`];
export const contexts: readonly unknown[] = [
  ...[null, 5, 'base64', [], true, {}],
  ...['max', 5, null, 'processed', 'confirmed', 'finalized'].map((commitment) => ({ commitment })),
  ...[-1, 1e15, '5', 1.5, null, 0].map((minContextSlot) => ({ minContextSlot })),
  { unknown: 1 },
];
const accountOptions: readonly unknown[] = [
  ...contexts,
  ...['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed', 'json', 'hex', 5, null].map((encoding) => ({
    encoding,
  })),
  ...[{ offset: 0, length: 4 }, { offset: 1_000, length: 4 }, { offset: -1, length: 4 }, {}, 5, null].map(
    (dataSlice) => ({ encoding: 'base64', dataSlice }),
  ),
];
const filters: readonly unknown[] = [
  [],
  5,
  [{ dataSize: 165 }],
  [{ dataSize: 'x' }],
  [{ other: 1 }],
  [{ memcmp: { offset: 0, bytes: 'O0' } }],
  [{ memcmp: { offset: 0, bytes: '1'.repeat(200) } }],
  Array.from({ length: 5 }, () => ({ dataSize: 165 })),
];
const many = (count: number, value: unknown): readonly unknown[] => Array.from({ length: count }, () => value);

export function callsIn({ payer, receiver, stranger, mint, receivers }: SolanaWorld): CallTable {
  const [wallet, to, spare, minted] = [payer, receiver, stranger, mint].map(({ publicKey }) => publicKey.toBase58());
  const account = receivers.toBase58();
  const confirmed = { commitment: 'confirmed' };
  const nothing: readonly unknown[] = [undefined, [], [1], {}];
  const oneContext: readonly unknown[] = [undefined, ...contexts.map((config) => [config]), [null, 1], {}];
  const bad = (...usual: readonly unknown[]): readonly unknown[] => [
    undefined,
    [],
    {},
    ...notKeys.map((each) => [each, ...usual]),
  ];
  return {
    getHealth: nothing,
    getVersion: nothing,
    getGenesisHash: nothing,
    getIdentity: nothing,
    getFirstAvailableBlock: nothing,
    minimumLedgerSlot: nothing,
    getEpochSchedule: nothing,
    getSlot: oneContext,
    getBlockHeight: oneContext,
    getTransactionCount: oneContext,
    getEpochInfo: oneContext,
    getLatestBlockhash: oneContext,
    isBlockhashValid: [...bad(), [wallet], ...contexts.map((config) => [wallet, config])],
    getFeeForMessage: [...bad().slice(0, 10), ['AAAA'], ['!!'], [''], ['A'], ['AAA']],
    getRecentPrioritizationFees: [
      ...[undefined, [], [[]], [null], [{}], [5], [wallet], [[wallet]], [['abc']], [[5]]],
      ...[128, 129].map((count) => [many(count, wallet)]),
    ],
    getMinimumBalanceForRentExemption: [
      ...[undefined, [], [0], [165], [-1], [1.5], ['5'], [null], [10_485_760], [10_485_761], [1e19]],
      ...[confirmed, { commitment: 'max' }, 5, {}].map((config) => [5, config]),
    ],
    getBalance: [...bad(), [spare], ...contexts.map((config) => [minted, config])],
    getAccountInfo: [
      ...bad(),
      ...[account, minted, wallet, to].flatMap((key) => accountOptions.map((config) => [key, config])),
      [tokenProgram, { encoding: 'base64', dataSlice: { offset: 0, length: 0 } }],
      [account, confirmed],
    ],
    getMultipleAccounts: [
      ...[undefined, [], [[]], [null], [5], ['abc'], [{}], [[5]], [[null]], [[minted, 'abc']], [[minted, to]]],
      ...accountOptions.map((config) => [[minted, to], config]),
      ...[100, 101].map((count) => [many(count, minted), { encoding: 'base64' }]),
    ],
    getTokenAccountBalance: [
      ...bad(),
      ...[to, minted, tokenProgram].map((key) => [key]),
      ...[confirmed, { commitment: 'max' }, {}, 5, null].map((config) => [account, config]),
    ],
    getTokenSupply: [...bad(), [to], [tokenProgram], [minted, confirmed], [account, confirmed]],
    getTokenLargestAccounts: [...bad(), [to, confirmed], [minted, confirmed]],
    ...Object.fromEntries(
      ['getTokenAccountsByOwner', 'getTokenAccountsByDelegate'].map((method) => [
        method,
        [
          ...bad({ mint: minted }),
          ...[{}, null, 'x', 5, 'mint', { other: 1 }, { mint: minted, programId: tokenProgram }].map((filter) => [
            wallet,
            filter,
          ]),
          ...['abc', 5, to, tokenProgram].map((key) => [wallet, { mint: key }, confirmed]),
          ...['abc', 5, minted, tokenProgram].map((programId) => [
            wallet,
            { programId },
            { ...confirmed, encoding: 'base64' },
          ]),
          ...[
            5,
            { encoding: 'hex' },
            { ...confirmed, encoding: 'jsonParsed' },
            { ...confirmed, encoding: 'base64' },
            confirmed,
          ].map((config) => [wallet, { mint: minted }, config]),
        ],
      ]),
    ),
    getProgramAccounts: [
      ...bad(),
      [spare],
      ...filters.map((each) => [spare, { filters: each }]),
      ...[true, false, 5].map((withContext) => [spare, { withContext }]),
      ...[{ encoding: 'base64' }, { encoding: 'jsonParsed' }, { encoding: 'base64', withContext: true }, {}].map(
        (config) => [tokenProgram, { ...confirmed, ...config, filters: [{ memcmp: { offset: 0, bytes: minted } }] }],
      ),
    ],
    getSignatureStatuses: [
      ...[
        undefined,
        [],
        [[]],
        [null],
        [5],
        ['abc'],
        [{}],
        [[wallet]],
        [['O0']],
        [[5]],
        [[null]],
        [[zeros]],
        [[unknown, zeros]],
      ],
      ...[true, false, 5, null].map((searchTransactionHistory) => [[zeros], { searchTransactionHistory }]),
      ...[{}, null, 5].map((config) => [[zeros], config]),
      ...[256, 257].map((count) => [many(count, zeros)]),
    ],
    getSignaturesForAddress: [
      ...bad(),
      ...[0, 1, -1, 1_000, 1_001, '5', 1.5, null].map((limit) => [wallet, { limit }]),
      ...['abc', zeros, unknown, 5, null, wallet, '', 'O0'].flatMap((each) => [
        [wallet, { before: each }],
        [wallet, { until: each }],
      ]),
      [wallet, { before: zeros, until: unknown }],
      ...contexts.map((config) => [to, config]),
    ],
    getTransaction: [
      ...bad(),
      ...[zeros, unknown].map((each) => [each]),
      ...['json', 'jsonParsed', 'base64', 'base58', 'binary', 'hex', ...contexts].map((config) => [unknown, config]),
      ...['hex', 5, null].map((encoding) => [unknown, { encoding }]),
      ...[-1, 0, 255, 256, 'x', null, 0.5].map((version) => [unknown, { maxSupportedTransactionVersion: version }]),
    ],
    getBlock: [
      ...[undefined, [], ['7'], [-1], [1.5], [null], [0], [far], [1e15], [1e19]],
      ...['hex', 'base64', ...contexts].map((config) => [far, config]),
      ...['everything', 5, null].map((transactionDetails) => [far, { transactionDetails }]),
      ...[5, null].map((rewards) => [far, { rewards }]),
    ],
    getBlocks: [
      ...[undefined, [], ['7'], [-1], [1.5], [far], [far, far + 5], [5, 3], [far, 'x'], [far, null], [far, far, 7]],
      ...contexts.map((config) => [far, far, config]),
      ...contexts.map((config) => [far, config]),
    ],
    getBlocksWithLimit: [
      ...[undefined, [5], [far, 3], [5, 600_000], ['x', 3], [5, 'x'], [5, 0], [5, 3, { commitment: 'processed' }]],
    ],
    getBlockTime: [undefined, [], {}, ['7'], [-1], [null], [0], [far], [1e15], [1.5], [5, 6]],
    requestAirdrop: [
      ...[undefined, [], [spare], [spare, '5'], [spare, -1], ['abc', 5], [spare, null], [spare, 1.5]],
      ...[5, { recentBlockhash: 5 }].map((config) => [spare, 5, config]),
    ],
    ...Object.fromEntries(
      ['sendTransaction', 'simulateTransaction'].map((method) => [
        method,
        [
          ...[
            undefined,
            [],
            {},
            [5],
            [null],
            ['0OIl'],
            [''],
            ['abc'],
            ...[1_683, 1_684, 5_000].map((length) => ['1'.repeat(length)]),
          ],
          ...['', 'A', 'AA', 'AAA', 'AAA=', 'A===', 'AA=A', 'AA==', 'AAAA', '!!!!'].map((text) => [
            text,
            { encoding: 'base64' },
          ]),
          ...[1_232, 1_233, 4_096, 4_097, 6_000].flatMap((length) =>
            [0, 1, 0x81].map((byte) => [Buffer.alloc(length, byte).toString('base64'), { encoding: 'base64' }]),
          ),
          ...['hex', 'json', 'jsonParsed', 'binary', 'base58', 5, null].map((encoding) => ['AAAA', { encoding }]),
          ...[
            ...contexts,
            { skipPreflight: 5 },
            { preflightCommitment: 'max' },
            { maxRetries: -1 },
            { maxRetries: 'x' },
          ].map((config) => ['AAAA', config]),
          ...[
            { sigVerify: 5 },
            { accounts: 5 },
            { accounts: {} },
            { innerInstructions: 5 },
            { sigVerify: true, replaceRecentBlockhash: true },
          ].map((config) => ['AAAA', config]),
        ],
      ]),
    ),
    nothing: [undefined, []],
    getConfirmedTransaction: [[zeros]],
    getRecentBlockhash: [undefined],
    [systemProgram]: [undefined],
  };
}

/** Bodies and headers of unusual calls. */
export function envelopes(): readonly (readonly [string, RequestInit])[] {
  const usual = { jsonrpc: '2.0', id: 1, method: 'getHealth' };
  const notification = { jsonrpc: '2.0', method: 'getHealth' };
  const json = (body: unknown, type = 'application/json'): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return [
    ...[...envelopeBodies(usual, notification)].map((body): [string, RequestInit] => [
      `POST ${typeof body === 'string' ? body.slice(0, 80) : JSON.stringify(body).slice(0, 80)}`,
      json(body),
    ]),
    ...['text/plain', 'application/vnd.x+json', 'application/json; charset=utf-8', 'application/json'].map(
      (type): [string, RequestInit] => [`POST as ${type}`, json(usual, type)],
    ),
    ...['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'].map((method): [string, RequestInit] => [
      method,
      { method },
    ]),
    ['50 KiB', json('x'.repeat(50 * 1024))],
    ['50 KiB and a byte', json('x'.repeat(50 * 1024 + 1))],
    ['a large batch', json(many(800, usual))],
  ];
}

export const envelopeBodies = (usual: object, notification: object): readonly unknown[] => [
  ...['{"jsonrpc":', '', 'null', '5', '"x"', 'true', '{}', '[]', '[1]', '[[]]'.slice(1), `${JSON.stringify(usual)} x`],
  usual,
  notification,
  ...[undefined, null, '1.0', 2].map((jsonrpc) => ({ ...usual, jsonrpc })),
  ...[null, 'x', 0, 1.5, -1, {}, true, [1]].map((id) => ({ ...usual, id })),
  ...[5, null, 'nothing', ''].map((method) => ({ ...usual, method })),
  { id: 1, method: 'nothing' },
  { method: 'getHealth' },
  ...[{}, { a: 1 }, null, 'x', 5, true, [5], [{ a: [1, 'x', null, true] }]].map((params) => ({ ...usual, params })),
  { ...usual, extra: 1 },
  { ...notification, extra: 1 },
  [usual, { ...usual, id: 2, method: 'nothing' }, notification],
  [notification],
  [usual, {}],
  [usual, 5],
];
