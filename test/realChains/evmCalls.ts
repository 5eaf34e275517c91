/** Calls of an EVM node without transactions: each method with usual, missing, wrong and extreme parameters. */
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { chainOf, findToken } from '../../domain/chains.ts';
import { transferTopic } from '../../src/chains/evm/reads.ts';
import type { Asked } from './evmComparison.ts';

const usdc = findToken(chainOf(1), 'USDC')?.address ?? '';
/** Must hold coin on both chains, and has sent nothing. */
export const holder = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const nobody = '0xabababababababababababababababababababab';
const unknownHash = `0x${'ab'.repeat(32)}`;
const noHash = `0x${'0'.repeat(64)}`;
const decimals = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' });
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [holder, 5n] });
const call = { to: usdc, data: decimals };
/** The precompiled identity answers alike in all blocks. */
const echo = { to: `0x${'4'.padStart(40, '0')}`, data: unknownHash };
const far = '0xffffff';

const words = (count: number, digits: number): readonly Hex[] =>
  Array.from({ length: count }, (_, at): Hex => `0x${at.toString(16).padStart(digits, '0')}`);

/** Code that runs as a contract's creation. */
const run = (code: Hex) => [{ data: code }, 'latest'];

type Cases = Readonly<Record<string, unknown>>;

/** Cases for methods that answer about a block. */
const blocks = (paramsOf: (block: unknown) => readonly unknown[]): Cases => ({
  'the newest block': paramsOf('latest'),
  'the first block': paramsOf('earliest'),
  'the safe block': paramsOf('safe'),
  'the final block': paramsOf('finalized'),
  'the pending block': paramsOf('pending'),
  'a block by number': paramsOf('0x0'),
  'a block above the newest': paramsOf(far),
  'a number with leading zeros': paramsOf('0x00'),
  'a number as JSON number': paramsOf(0),
  'a number in decimal digits': paramsOf('0'),
  'a number of 64 bits': paramsOf('0xffffffffffffffff'),
  'a number of 72 bits': paramsOf('0xffffffffffffffffff'),
  'a negative number': paramsOf('-0x1'),
  'a number without digits': paramsOf('0x'),
  'a word that is no tag': paramsOf('newest'),
  'null for the block': paramsOf(null),
  'a list for the block': paramsOf([]),
});

/** Cases for methods that accept a block's number or hash. */
const blocksOrHashes = (paramsOf: (block: unknown) => readonly unknown[]): Cases => ({
  ...blocks(paramsOf),
  'an unknown block hash': paramsOf({ blockHash: unknownHash }),
  'a block hash that is too short': paramsOf({ blockHash: '0x12' }),
});

const hashes = (paramsOf: (hash: unknown) => readonly unknown[]): Cases => ({
  'an unknown hash': paramsOf(unknownHash),
  'the empty hash': paramsOf(noHash),
  'a hash in capitals': paramsOf(unknownHash.toUpperCase().replace('X', 'x')),
  'a short hash': paramsOf('0x12'),
  'a hash without 0x': paramsOf('ab'.repeat(32)),
  'a hash that is a word': paramsOf('zz'),
  'a number for the hash': paramsOf(5),
  'null for the hash': paramsOf(null),
});

const accounts = (paramsOf: (account: unknown) => readonly unknown[]): Cases => ({
  'an account that holds coin': paramsOf(holder),
  'an account in lower case': paramsOf(holder.toLowerCase()),
  'an account with a wrong checksum': paramsOf(holder.replace('C51812', 'c51812')),
  'an account that nobody uses': paramsOf(nobody),
  'a token': paramsOf(usdc),
  'a short account': paramsOf('0x12'),
  'an account that is a word': paramsOf('zz'),
  'null for the account': paramsOf(null),
});

/** Cases for methods without parameters. */
const bare: Cases = { usual: [], 'no params': undefined, 'a parameter too many': [1], 'an object': {} };
const missing = (...params: readonly unknown[]): Cases => ({ 'no parameters': [], 'a parameter too few': params });

/** The methods that the product, its specs, tools and wallets call. */
export const table: Readonly<Record<string, Cases>> = {
  eth_chainId: bare,
  eth_blockNumber: bare,
  eth_gasPrice: bare,
  eth_maxPriorityFeePerGas: bare,
  eth_blobBaseFee: bare,
  eth_syncing: bare,
  net_version: bare,
  net_listening: bare,
  web3_clientVersion: bare,
  txpool_status: bare,
  eth_getBlockByNumber: {
    ...blocks((block) => [block, false]),
    'whole transactions': ['latest', true],
    ...missing('latest'),
    'a word for a boolean': ['latest', 'false'],
    'a parameter too many': ['latest', false, 1],
  },
  eth_getBlockByHash: { ...hashes((hash) => [hash, false]), ...missing(unknownHash) },
  eth_getBlockReceipts: {
    ...blocks((block) => [block]),
    'an unknown block hash': [unknownHash],
    'an unknown block hash in an object': [{ blockHash: unknownHash }],
    'no parameters': [],
  },
  eth_getTransactionByHash: { ...hashes((hash) => [hash]), 'no parameters': [] },
  eth_getTransactionReceipt: { ...hashes((hash) => [hash]), 'no parameters': [] },
  eth_getTransactionByBlockNumberAndIndex: { 'no such transaction': ['latest', '0x0'], ...missing('latest') },
  eth_getBlockTransactionCountByNumber: { usual: ['latest'], 'a block above the newest': [far] },
  eth_getTransactionCount: {
    ...accounts((account) => [account, 'latest']),
    ...blocksOrHashes((block) => [holder, block]),
    ...missing(holder),
  },
  eth_getBalance: {
    ...accounts((account) => [account, 'latest']),
    ...blocksOrHashes((block) => [holder, block]),
    ...missing(holder),
  },
  eth_getCode: {
    ...accounts((account) => [account, 'latest']),
    ...blocksOrHashes((block) => [usdc, block]),
    ...missing(usdc),
  },
  eth_getStorageAt: {
    usual: [usdc, '0x0', 'latest'],
    'a slot of 32 bytes': [usdc, noHash, 'latest'],
    'a slot that is a word': [usdc, 'x', 'latest'],
    ...missing(usdc, '0x0'),
  },
  eth_call: {
    usual: [call, 'latest'],
    ...blocksOrHashes((block) => [echo, block]),
    'the data as input': [{ to: usdc, input: decimals }, 'latest'],
    'data and input that differ': [{ to: usdc, data: decimals, input: '0x12' }, 'latest'],
    'no block': [call],
    'a selector that the contract lacks': [{ to: usdc, data: '0x12345678' }, 'latest'],
    'a transfer of more than is held': [{ from: nobody, to: usdc, data: transfer }, 'latest'],
    'an account without code': [{ to: nobody, data: decimals }, 'latest'],
    'an empty call': [{}, 'latest'],
    'null for the call': [null, 'latest'],
    'no parameters': [],
    'a short receiver': [{ to: '0x12' }, 'latest'],
    'data that is a word': [{ to: usdc, data: 'zz' }, 'latest'],
    'data with half a byte': [{ to: usdc, data: '0x1' }, 'latest'],
    'code that executes INVALID': run('0xfe'),
    'code that uses all gas': run('0x5b600056'),
    'code that jumps to an invalid place': run('0x600056'),
    'code that needs more of the stack': run('0x01'),
    'code that reverts with data': run('0x60016000fd'),
    'code that reverts without data': run('0x5f5ffd'),
    'code that creates too large a contract': run('0x6160016000f3'),
    'a creation that is too long': run(`0x${'00'.repeat(50_000)}`),
    'too little gas': [{ ...call, gas: '0x1' }, 'latest'],
    'more coin than is held': [{ from: nobody, ...call, value: '0x1' }, 'latest'],
    'a gas price below the base fee': [{ from: holder, ...call, gasPrice: '0x1' }, 'latest'],
    'a tip above the fee cap': [{ from: holder, ...call, maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x2' }, 'latest'],
    'code in the place of an account': [{ to: holder }, 'latest', { [holder]: { code: '0x602a60005260206000f3' } }],
    'a balance in the place of an account’s': [
      { from: nobody, to: holder, value: '0x1' },
      'latest',
      { [nobody]: { balance: '0x5' } },
    ],
    'a number in the place of code': [{ to: holder }, 'latest', { [holder]: { code: 5 } }],
    'code in the place of a word': [{ to: holder }, 'latest', { x: {} }],
    'no overrides': [call, 'latest', {}, {}],
  },
  eth_estimateGas: {
    usual: [{ from: holder, ...call }, 'latest'],
    'no block': [{ from: holder, ...call }],
    'a transfer of coin': [{ from: holder, to: nobody, value: '0x1' }, 'latest'],
    'a transfer of more coin than is held': [{ from: nobody, to: holder, value: '0x1' }, 'latest'],
    'a transfer of more than is held': [{ from: nobody, to: usdc, data: transfer }, 'latest'],
    'a selector that the contract lacks': [{ from: holder, to: usdc, data: '0x12345678' }, 'latest'],
    'code that executes INVALID': run('0xfe'),
    'code that uses all gas': run('0x5b600056'),
    'code that jumps to an invalid place': run('0x600056'),
    'too little gas': [{ from: holder, to: nobody, gas: '0x1' }, 'latest'],
    'more gas than a block has': [{ from: holder, to: nobody, gas: '0xffffffffff' }, 'latest'],
    'a fee cap that the account cannot pay': [{ from: nobody, to: holder, maxFeePerGas: '0xffffffff' }, 'latest'],
    'a block above the newest': [{ from: holder, ...call }, far],
    'the pending block': [{ from: holder, ...call }, 'pending'],
    'no parameters': [],
  },
  eth_getLogs: {
    usual: [{ address: usdc, topics: [transferTopic], fromBlock: '0x0', toBlock: 'latest' }],
    'an empty filter': [{}],
    'an unknown block hash': [{ blockHash: unknownHash }],
    'a block hash and a range': [{ blockHash: unknownHash, fromBlock: '0x1' }],
    'a range that ends before it begins': [{ fromBlock: '0x1', toBlock: '0x0' }],
    'a range above the newest block': [{ fromBlock: '0xfffff', toBlock: far }],
    'a range that ends above the newest block': [{ fromBlock: '0x0', toBlock: far }],
    'a range from the newest block to above it': [{ fromBlock: 'latest', toBlock: far }],
    'the pending block': [{ fromBlock: 'pending', toBlock: 'pending' }],
    'a range from the final block': [{ fromBlock: 'finalized', toBlock: 'latest' }],
    'a short address': [{ address: '0x12' }],
    'no address of a list': [{ address: [] }],
    'a list of addresses': [{ address: [usdc, nobody] }],
    'a short topic': [{ topics: ['0x12'] }],
    'four topics': [{ topics: [transferTopic, null, null, null] }],
    'five topics': [{ topics: [transferTopic, null, null, null, null] }],
    'alternatives of a topic': [{ topics: [[transferTopic, noHash]] }],
    'no alternative of a topic': [{ topics: [[]] }],
    'a thousand addresses': [{ address: words(1_000, 40) }],
    'more than a thousand addresses': [{ address: words(1_001, 40) }],
    'a thousand topics': [{ topics: [words(1_000, 64)] }],
    'more than a thousand topics': [{ topics: [words(1_001, 64)] }],
    'a number as JSON number': [{ fromBlock: 1 }],
    'a number of 72 bits': [{ fromBlock: '0x0', toBlock: '0xffffffffffffffffff' }],
    'an unknown field': [{ unknown: 1 }],
    'null for the filter': [null],
    'no parameters': [],
  },
  eth_feeHistory: {
    usual: ['0x1', 'latest', [10, 50]],
    'no percentiles': ['0x1', 'latest', []],
    'a count as JSON number': [1, 'latest', [50]],
    'no blocks': ['0x0', 'latest', []],
    'more blocks than there are': ['0x400', 'latest', [50]],
    'more blocks than are served': ['0xffffff', 'latest', [50]],
    'a block above the newest': ['0x1', far, [50]],
    'the pending block': ['0x1', 'pending', [50]],
    'the final block': ['0x1', 'finalized', [50]],
    'percentiles that fall': ['0x1', 'latest', [50, 10]],
    'a percentile above 100': ['0x1', 'latest', [101]],
    'a percentile below 0': ['0x1', 'latest', [-1]],
    'more than 100 percentiles': ['0x1', 'latest', Array.from({ length: 101 }, () => 1)],
    'a count that is a word': ['x', 'latest', []],
    ...missing('0x1', 'latest'),
  },
  eth_sendRawTransaction: {
    'no bytes': ['0x'],
    'a byte of type 0': ['0x00'],
    'an empty transaction': ['0xc0'],
    'an empty transaction of type 2': ['0x02c0'],
    'an unknown type': ['0x7f00'],
    'bytes that are a word': ['zz'],
    'null for the bytes': [null],
    'no parameters': [],
  },
  eth_getTransactionBySenderAndNonce: { usual: [holder, '0x0'] },
  eth_getRawTransactionByHash: { 'an unknown hash': [unknownHash] },
  eth_newFilter: { usual: [{}] },
  eth_subscribe: { 'over HTTP': ['newHeads'] },
  eth_accounts: { usual: [] },
  eth_requestAccounts: { usual: [] },
  eth_sendTransaction: { 'an account without a key': [{ from: nobody, to: nobody }] },
  wallet_addEthereumChain: { usual: [] },
  eth_mystery: { usual: [] },
};

export const calls: readonly Asked[] = Object.entries(table).flatMap(([method, cases]) =>
  Object.entries(cases).map(([about, params]) => ({ method, about, params })),
);

const request = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
const withoutId = { ...request, id: undefined };
const many = (count: number) => Array.from({ length: count }, (_, id) => ({ ...request, id }));

interface Envelope {
  readonly about: string;
  /** Text is sent unchanged. */
  readonly body: unknown;
  readonly init?: RequestInit;
}

/** Requests that are faulty, or unusual, around the call. */
export const envelopes: readonly Envelope[] = [
  { about: 'usual', body: request },
  { about: 'no jsonrpc', body: { ...request, jsonrpc: undefined } },
  { about: 'jsonrpc 1.0', body: { ...request, jsonrpc: '1.0' } },
  { about: 'a notification', body: withoutId },
  { about: 'null for the id', body: { ...request, id: null } },
  { about: 'a text for the id', body: { ...request, id: 'a' } },
  { about: 'a fraction for the id', body: { ...request, id: 1.5 } },
  { about: 'an object for the id', body: { ...request, id: {} } },
  { about: 'no method', body: { ...request, method: undefined } },
  { about: 'a number for the method', body: { ...request, method: 5 } },
  { about: 'an empty method', body: { ...request, method: '' } },
  { about: 'an unknown method', body: { ...request, method: 'eth_x' } },
  { about: 'null for the params', body: { ...request, params: null } },
  { about: 'a text for the params', body: { ...request, params: 'x' } },
  { about: 'a field that JSON-RPC lacks', body: { ...request, extra: 1 } },
  { about: 'a batch', body: [request, { ...request, id: 2, method: 'eth_blockNumber' }] },
  { about: 'a batch with an unknown method', body: [request, { ...request, id: 2, method: 'eth_x' }] },
  { about: 'a batch with the same id twice', body: [request, request] },
  { about: 'a batch with a notification', body: [withoutId, request] },
  { about: 'a batch of notifications', body: [withoutId] },
  { about: 'an empty batch', body: [] },
  { about: 'a batch of numbers', body: [1, 2] },
  { about: 'a batch of 1,000 calls', body: many(1_000) },
  { about: 'a batch of 1,001 calls', body: many(1_001) },
  { about: 'broken JSON', body: '{"jsonrpc":' },
  { about: 'an empty body', body: '' },
  { about: 'a number', body: '5' },
  { about: 'a text', body: '"x"' },
  { about: 'null', body: 'null' },
  { about: 'two requests without a comma', body: `${JSON.stringify(request)}${JSON.stringify(request)}` },
  { about: 'text/plain', body: request, init: { headers: { 'content-type': 'text/plain' } } },
  { about: 'a charset', body: request, init: { headers: { 'content-type': 'application/json; charset=utf-8' } } },
  { about: 'GET', body: undefined, init: { method: 'GET', body: null } },
  { about: 'PUT', body: request, init: { method: 'PUT' } },
];
