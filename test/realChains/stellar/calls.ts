/** Calls that both nodes get: usual, missing, wrong and extreme parameters of each method. */
import { Contract, Keypair, Operation, type Transaction, xdr } from '@stellar/stellar-sdk';
import { accountKey, dataKey, instanceKey, trustlineKey } from '../../../sandbox/stellar/ledger/entries.ts';
import { addressArg, i128Arg, payCall } from '../../support/stellar.ts';
import type { Op, Side, StellarPair } from './pair.ts';

/** A network as parameters need it. */
export interface Facts {
  /** A ledger that is 2 ledgers old. */
  readonly ledger: number;
  /** Hash of a transaction in a ledger. */
  readonly hash: string;
  /** Hash of the payment inside a fee bump in a ledger. */
  readonly innerHash: string;
  readonly pair: StellarPair;
  readonly side: Side;
}

/** Method and params; undefined sends none. */
export type Params = (facts: Facts) => unknown;

/** Parameters that every method gets. */
const strange: readonly unknown[] = [undefined, null, {}, [], [1], { x: 1 }];
const constant = (values: readonly unknown[]): readonly Params[] => values.map((value) => () => value);

const noHash = '0'.repeat(64);
const toid = (ledger: number, transaction = 0): string =>
  String((BigInt(ledger) << 32n) | (BigInt(transaction) << 12n));
const eventId = (ledger: number, index = 0): string =>
  `${toid(ledger).padStart(19, '0')}-${String(index).padStart(10, '0')}`;

const transactions: readonly Params[] = [
  ...constant([
    ...[
      noHash,
      'x',
      '',
      noHash.slice(1),
      `${noHash}0`,
      `${noHash}00`,
      'A'.repeat(64),
      'g'.repeat(64),
      5,
      null,
      [noHash],
    ],
  ]).map((hash) => (facts: Facts) => ({ hash: hash(facts) })),
  ({ hash }) => ({ hash }),
  ({ hash }) => ({ HASH: hash }),
  ({ hash }) => ({ hash: hash.toUpperCase() }),
  ({ innerHash }) => ({ hash: innerHash }),
  ({ hash }) => ({ hash, more: 1 }),
  ...['base64', '', 'bad', 5].map((xdrFormat) => ({ hash }: Facts) => ({ hash, xdrFormat })),
];

const envelopes = ['', 'AAAA', '!!', 5, null, ['AAAA'], {}];

/** Parameters of getTransactions and getLedgers. */
const pages: readonly Params[] = [
  ...[0, 1, -1, 1.5, '5', 5_000_000_000, null, true].map((startLedger) => () => ({ startLedger })),
  ({ ledger }) => ({ startLedger: ledger }),
  ({ ledger }) => ({ startLedger: ledger + 1_000 }),
  ...[0, 1, 2, 200, 201, -1, 1.5, '1', null].map((limit) => ({ ledger }: Facts) => ({
    startLedger: ledger,
    pagination: { limit },
  })),
  ...[null, [], 'x', 5].map((pagination) => ({ ledger }: Facts) => ({ startLedger: ledger, pagination })),
  ...['x', '5'].map((cursor) => ({ ledger }: Facts) => ({ startLedger: ledger, pagination: { cursor } })),
  ...['x', '', '1', '-1', '+5', '9'.repeat(25), ' 5', '5.0', 5, null].map((cursor) => () => ({
    pagination: { cursor },
  })),
  ...['bad', 'base64', 5].map((xdrFormat) => ({ ledger }: Facts) => ({ startLedger: ledger, xdrFormat })),
  () => ({ startLedger: 1, xdrFormat: 'bad' }),
  () => ({ pagination: { cursor: '1', limit: 201 } }),
];

const transactionPages: readonly Params[] = [
  ...pages,
  ({ ledger }) => ({ pagination: { cursor: toid(ledger), limit: 1 } }),
  ({ ledger }) => ({ pagination: { cursor: toid(ledger, 1) } }),
  ({ ledger }) => ({ pagination: { cursor: toid(ledger + 1_000) } }),
];

const ledgerPages: readonly Params[] = [
  ...pages,
  ({ ledger }) => ({ pagination: { cursor: String(ledger), limit: 1 } }),
  ({ ledger }) => ({ pagination: { cursor: String(ledger + 1_000) } }),
  ({ ledger }) => ({ pagination: { cursor: toid(ledger) } }),
];

const topic = (text: string): string => xdr.ScVal.scvSymbol(text).toXDR('base64');
const transferTopic = topic('transfer');
const anyContract = 'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75';

const filters: readonly unknown[] = [
  ...[[], null, 'x', [{}], [null], [5], [[]], Array(5).fill({}), Array(6).fill({})],
  ...[
    'contract',
    'system',
    'diagnostic',
    'bad',
    '',
    'contract,system',
    'contract,contract',
    'contract,',
    ' contract',
    5,
  ].map((type) => [{ type }]),
  [{ TYPE: 'bad' }],
  [{}, { type: 'bad' }],
  ...[
    [],
    [anyContract],
    ['x'],
    [''],
    Array(5).fill(anyContract),
    Array(6).fill(anyContract),
    anyContract,
    null,
    [5],
    [null],
  ].map((contractIds) => [{ contractIds }]),
  ...[[], null, 'x', [[]], ['x'], [null], [[5]], [[null]], [['']], [['x']], [['AAAA']], [['***']]].map((topics) => [
    { topics },
  ]),
  ...[[transferTopic], ['*'], ['**'], ['*', '*', '*', '*'], ['*', '*', '*', '*', '*'], ['*', '*', '*', '*', '**']].map(
    (each) => [{ topics: [each] }],
  ),
  ...[
    ['**', '*'],
    ['*', '**', '*'],
    ['**', '**'],
    [transferTopic, '**'],
    [transferTopic, '*', '*', '*'],
  ].map((each) => [{ topics: [each] }]),
  ...[5, 6].map((count) => [{ topics: Array(count).fill([transferTopic]) }]),
  [{ topics: [[`${transferTopic}AAAA`]] }],
];

const events: readonly Params[] = [
  ...[0, 1, -1, 1.5, '5', 5_000_000_000].map((startLedger) => () => ({ startLedger })),
  ({ ledger }) => ({ startLedger: ledger }),
  ({ ledger }) => ({ startLedger: ledger + 1_000 }),
  ...[-5, -1, 0, 1, 1_000].map((more) => ({ ledger }: Facts) => ({ startLedger: ledger, endLedger: ledger + more })),
  ...[0, 1, -1, '5', 1.5].map((endLedger) => ({ ledger }: Facts) => ({ startLedger: ledger, endLedger })),
  ({ ledger }) => ({ endLedger: ledger }),
  ...filters.map((each) => ({ ledger }: Facts) => ({ startLedger: ledger, filters: each })),
  ...[0, 1, 10_000, 10_001, -1, '1', 1.5].map((limit) => ({ ledger }: Facts) => ({
    startLedger: ledger,
    pagination: { limit },
  })),
  ...[null, [], 5].map((pagination) => ({ ledger }: Facts) => ({ startLedger: ledger, pagination })),
  ...['startLedger', 'endLedger'].map((name) => ({ ledger }: Facts) => ({
    [name]: ledger,
    pagination: { cursor: eventId(ledger) },
  })),
  ({ ledger }) => ({ pagination: { cursor: eventId(ledger) } }),
  ({ ledger }) => ({ pagination: { cursor: eventId(ledger), limit: 1 } }),
  ({ ledger }) => ({ pagination: { cursor: eventId(ledger + 1_000) } }),
  ({ ledger }) => ({ pagination: { cursor: eventId(ledger).replace(/^0+/, '') } }),
  ({ ledger }) => ({ pagination: { cursor: toid(ledger) } }),
  ({ ledger }) => ({ pagination: { cursor: eventId(ledger, 2 ** 40) } }),
  ...['x', '', '1-2', '1-2-3', '-1-5', `${'9'.repeat(25)}-1`, '-', '1-', null, 5].map((cursor) => () => ({
    pagination: { cursor },
  })),
  ...['bad', 'base64', 5].map((xdrFormat) => ({ ledger }: Facts) => ({ startLedger: ledger, xdrFormat })),
  () => ({ startLedger: 0, xdrFormat: 'bad' }),
  () => ({ startLedger: 0, filters: [{ type: 'bad' }] }),
];

const text = (key: xdr.LedgerKey): string => key.toXDR('base64');
const keysOf = ({ pair }: Facts): readonly string[] => {
  const account = pair.account('receiver').publicKey();
  const nobody = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 3)).publicKey();
  return [
    instanceKey(pair.tokenId),
    trustlineKey(account, pair.token),
    accountKey(account),
    accountKey(nobody),
    dataKey(pair.tokenId, xdr.ScVal.scvSymbol('nothing'), 'persistent'),
  ].map(text);
};
const ttlKey = text(xdr.LedgerKey.ttl(new xdr.LedgerKeyTtl({ keyHash: Buffer.alloc(32) })));

const entries: readonly Params[] = [
  ...[[], null, 'x', ['x'], ['AAAA'], [5], [null], [''], ['x', 5], [ttlKey]].map((keys) => () => ({ keys })),
  (facts) => ({ keys: keysOf(facts) }),
  (facts) => ({ keys: keysOf(facts).slice(0, 1) }),
  (facts) => ({ keys: keysOf(facts).slice(3, 4) }),
  (facts) => ({ keys: [...keysOf(facts), ...keysOf(facts)] }),
  (facts) => ({ keys: [`${keysOf(facts)[2]}AAAA`] }),
  (facts) => ({ keys: [...keysOf(facts).slice(0, 1), 'x'] }),
  (facts) => ({ keys: Array(201).fill(keysOf(facts)[2]) }),
  ...['bad', 'base64', 5].map((xdrFormat) => (facts: Facts) => ({ keys: keysOf(facts), xdrFormat })),
  () => ({ keys: [], xdrFormat: 'bad' }),
];

/** Unsigned transactions of one operation each, to be simulated. */
async function simulations({ pair, side }: Facts): Promise<readonly unknown[]> {
  const [payer, receiver, stranger] = ['receiver', 'bumper', 'stranger'].map((name) => pair.account(name).publicKey());
  if (!payer || !receiver || !stranger) throw new Error('an account is missing');
  const build = async (...operations: Op[]) => pair.build(side, payer, operations);
  const transfer = (from: string, to: string, amount: bigint): Op =>
    new Contract(pair.tokenId).call('transfer', addressArg(from), addressArg(to), i128Arg(amount));
  const ask = (name: string, ...args: xdr.ScVal[]): Op => new Contract(pair.tokenId).call(name, ...args);
  const payment = Operation.payment({ destination: receiver, asset: pair.token, amount: '1' });
  const built = await Promise.all([
    build(transfer(payer, receiver, 5n)),
    build(transfer(payer, receiver, 10n ** 15n)),
    build(transfer(payer, receiver, -5n)),
    build(transfer(payer, stranger, 5n)),
    build(transfer(receiver, payer, 5n)),
    build(ask('balance', addressArg(payer))),
    build(ask('decimals')),
    build(ask('name')),
    build(ask('symbol')),
    build(ask('balance')),
    build(ask('nothing')),
    build(new Contract(anyContract).call('balance', addressArg(payer))),
    build(payCall(pair.payinId, payer, 5n, 'memo')),
    build(payCall(pair.payinId, payer, 10n ** 15n, 'memo')),
    build(payCall(pair.payinId, payer, -5n, 'memo')),
    build(payCall(pair.payinId, payer, 5n, 'm'.repeat(1_000))),
    build(payCall(pair.payinId, stranger, 5n, 'memo')),
    ...['token', 'destination', 'nothing', 'pay', '__constructor'].map((name) =>
      build(new Contract(pair.payinId).call(name)),
    ),
    build(new Contract(pair.payinId).call('token', i128Arg(1n))),
    build(new Contract(pair.payinId).call('pay', i128Arg(1n), i128Arg(1n), i128Arg(1n))),
    build(Operation.uploadContractWasm({ wasm: Buffer.from('no wasm') })),
    build(payment),
    build(payment, payment),
    build(),
  ]);
  const envelope = (transaction: Transaction): string => transaction.toEnvelope().toXDR('base64');
  const [transferring] = built;
  if (!transferring) throw new Error('no transfer');
  const modes = ['', 'record', 'enforce', 'record_allow_nonroot', 'bad', 5, null];
  return [
    ...built.map((transaction) => ({ transaction: envelope(transaction) })),
    ...modes.map((authMode) => ({ transaction: envelope(transferring), authMode })),
    ...['bad', 'base64', 5].map((xdrFormat) => ({ transaction: envelope(transferring), xdrFormat })),
    ...[{}, null, { instructionLeeway: 1 }, { instructionLeeway: 'x' }, 5].map((resourceConfig) => ({
      transaction: envelope(transferring),
      resourceConfig,
    })),
  ];
}

const tables: Readonly<Record<string, readonly Params[]>> = {
  getHealth: [],
  getNetwork: [],
  getVersionInfo: [],
  getFeeStats: [],
  getLatestLedger: [],
  getTransaction: transactions,
  getTransactions: transactionPages,
  getLedgers: ledgerPages,
  getEvents: events,
  getLedgerEntries: entries,
  sendTransaction: [
    ...envelopes.map((transaction) => () => ({ transaction })),
    ...['bad', 5].map((xdrFormat) => () => ({ transaction: 'AAAA', xdrFormat })),
  ],
  simulateTransaction: envelopes.map((transaction) => () => ({ transaction })),
};

/** All methods of stellar-rpc. */
export const methods: readonly string[] = Object.keys(tables);

/** @returns params in the same order for each network */
export async function paramsOf(method: string, facts: Facts): Promise<readonly unknown[]> {
  const simulated = method === 'simulateTransaction' ? await simulations(facts) : [];
  return [...strange, ...(tables[method] ?? []).map((params) => params(facts)), ...simulated];
}

const valid = { jsonrpc: '2.0', id: 1, method: 'getNetwork' };

/** Bodies of requests, including invalid ones. */
export const bodies: Readonly<Record<string, string>> = Object.fromEntries(
  [
    valid,
    { ...valid, jsonrpc: undefined },
    { ...valid, jsonrpc: null },
    { ...valid, jsonrpc: '1.0' },
    { ...valid, jsonrpc: 2 },
    { JSONRPC: '2.0', id: 1, method: 'getNetwork' },
    ...[undefined, null, '', 'text', 0, -1, 1.5, 1e300, {}, [], true].map((id) => ({ ...valid, id })),
    ...['nothing', '', null, 5, undefined, 'rpc.nothing', 'GETNETWORK'].map((method) => ({ ...valid, method })),
    ...[5, 'x', true, false, null].map((params) => ({ ...valid, params })),
    { ...valid, method: 'nothing', params: 5 },
    { ...valid, more: 1, another: 2 },
    { ...valid, result: 1 },
    { ...valid, error: null },
    ...['nothing', undefined, 5].map((method) => ({ jsonrpc: '2.0', method })),
    { jsonrpc: '2.0', method: 'getNetwork', params: 5 },
    { jsonrpc: '2.0', method: 'getHealth', params: {} },
    { method: 'getNetwork' },
    [],
    [valid],
    [valid, { ...valid, id: 2 }],
    [valid, valid],
    [{ ...valid, id: undefined }],
    [valid, { ...valid, id: undefined }],
    [valid, { ...valid, id: 2, method: 'nothing' }, 5, { id: 3, method: 'getNetwork' }],
    [{ ...valid, method: 'nothing' }],
    [5],
    [5, 5],
    [[]],
    [null],
    [{ id: 1, method: 'getNetwork' }],
    Array.from({ length: 150 }, (_, id) => ({ ...valid, id })),
    5,
    null,
    'text',
    true,
  ]
    .map((body) => JSON.stringify(body))
    .concat('', ' ', '{', '{"jsonrpc":', 'text', `${JSON.stringify(valid)}${JSON.stringify(valid)}`)
    .concat(` ${JSON.stringify(valid)}\n`, '{"jsonrpc":"2.0","id":1,"id":2,"method":"getNetwork"}')
    .concat(JSON.stringify({ ...valid, method: 'getTransaction', params: { hash: 'a'.repeat(600 * 1_024) } }))
    .map((body) => [body.slice(0, 100), body]),
);

const body = JSON.stringify(valid);

/** Faults of HTTP. */
export const exchanges: Readonly<Record<string, { readonly path?: string; readonly init: RequestInit }>> = {
  GET: { init: { method: 'GET', body: null } },
  PUT: { init: { method: 'PUT', body } },
  DELETE: { init: { method: 'DELETE', body: null } },
  OPTIONS: { init: { method: 'OPTIONS', body: null } },
  'another path': { path: '/somewhere', init: { body } },
  'no content type': { init: { body, headers: {} } },
  'a content type in capitals': { init: { body, headers: { 'content-type': 'Application/JSON' } } },
  'a content type with its charset': { init: { body, headers: { 'content-type': 'application/json; charset=utf-8' } } },
  'text as content type': { init: { body, headers: { 'content-type': 'text/plain' } } },
  'another JSON as content type': { init: { body, headers: { 'content-type': 'application/json-rpc' } } },
  'another charset': { init: { body, headers: { 'content-type': 'application/json; charset=latin1' } } },
};
