/** Intentional differences between the sandbox's Solana and Agave. docs/contribute/real-chains.md has the same rows. */
import type { Difference } from './comparison.ts';

export interface MeantDifference {
  readonly method: string;
  readonly real: string;
  readonly sandbox: string;
  readonly reason: string;
  /** The differences in answers that it explains; undefined where the spec compares no such answer. */
  readonly explains?: (call: { readonly method: string; readonly params: unknown }, difference: Difference) => boolean;
}

/** Fields about the validator, its votes and its stake. */
const ofValidators: readonly string[] = [
  'getBlockCommitment',
  'getBlockProduction',
  'getClusterNodes',
  'getHighestSnapshotSlot',
  'getInflationGovernor',
  'getInflationRate',
  'getLargestAccounts',
  'getLeaderSchedule',
  'getMaxRetransmitSlot',
  'getRecentPerformanceSamples',
  'getSlotLeader',
  'getStakeMinimumDelegation',
  'getSupply',
  'getVoteAccounts',
];

export const methodsOfValidators = ofValidators;

const isFirstSlot = (params: unknown): boolean => Array.isArray(params) && Number(params[0]) < 1_000;

export const meantDifferences: readonly MeantDifference[] = [
  ...[ofValidators.slice(0, 7), ofValidators.slice(7)].map(
    (methods): MeantDifference => ({
      method: methods.map((method) => `\`${method}\``).join(', '),
      real: 'answers',
      sandbox: '-32601',
      reason:
        'there are no validators, votes, stakes or snapshots; neither the product nor wallets that pay call these methods',
      explains: ({ method }) => methods.includes(method),
    }),
  ),
  {
    method: '`getBlock`, `getBlockTime`, `getBlocksWithLimit`',
    real: 'a new chain has a block in slot 0',
    sandbox: 'the chain begins with slot 1,000; earlier slots are skipped (-32007)',
    reason: 'code that takes slots for block heights fails',
    explains: ({ method, params }) =>
      ['getBlock', 'getBlockTime', 'getBlocksWithLimit'].includes(method) && isFirstSlot(params),
  },
  {
    method: '`getBlock`',
    real: 'each block holds votes and a reward for its leader',
    sandbox: 'no votes, an empty list of rewards',
    reason: 'there are no validators; the spec compares blocks without votes and rewards',
  },
  {
    method: '`getSignatureStatuses`, `sendTransaction`',
    real: 'a list in place of the last parameter is read as its fields, in the order of the source',
    sandbox: 'a list is refused as the wrong type (-32602)',
    reason: 'no client sends one; the order of fields is no part of the documented interface',
    explains: ({ method, params }, { path }) =>
      ['getSignatureStatuses', 'sendTransaction'].includes(method) &&
      Array.isArray(params) &&
      Array.isArray(params[1]) &&
      path.startsWith('.body'),
  },
  {
    method: '`getTransaction`, `simulateTransaction`',
    real: 'compute units of the deployed programs; the memo program logs one line',
    sandbox: 'units and logs of the programs that LiteSVM carries, a few per cent off; the memo program logs two lines',
    reason: 'versions of programs; results, fees and balances are equal',
  },
  {
    method: '`sendTransaction`, `simulateTransaction`, `getFeeForMessage`',
    real: 'names the reason of the decoder for bytes that are no transaction',
    sandbox: 'the same refusal with the reason of another decoder',
    reason: 'the text behind "failed to deserialize …:" is the only difference',
  },
  {
    method: '`getAccountInfo`, `getMultipleAccounts`',
    real: '`jsonParsed` decodes system variables, votes, stakes, nonces and lookup tables, too',
    sandbox: '`jsonParsed` decodes mints and token accounts; others are base64',
    reason: 'payments need no others',
  },
  {
    method: '`getTransaction`, `getBlock`',
    real: '`jsonParsed` decodes all instructions of the native programs',
    sandbox: 'transfers and creations of the system program, and token, associated token and memo instructions',
    reason: 'payments need no others',
  },
  {
    method: '`requestAirdrop`',
    real: 'two equal airdrops in one block are one transaction',
    sandbox: 'each airdrop lands: a number in a transfer of the faucet to itself tells them apart',
    reason: 'specs get all that they ask for',
  },
  {
    method: '`getProgramAccounts`, `getTokenLargestAccounts`',
    real: 'all accounts of the ledger',
    sandbox: 'accounts that were written since the chain began',
    reason: 'the accounts of the virtual machine itself are not listed',
  },
  {
    method: '`slotsUpdatesSubscribe`',
    real: 'answers',
    sandbox: '-32601',
    reason: 'blocks have no stages there',
    explains: ({ method }) => method === 'slotsUpdatesSubscribe',
  },
  {
    method: '`programSubscribe`, `logsSubscribe`',
    real: 'notifies of the validator’s votes, too',
    sandbox: 'no votes',
    reason: 'there are no validators',
  },
  {
    method: '`getTransaction`, `getSignaturesForAddress` after a restart',
    real: 'transactions that were not final at the end may be gone',
    sandbox: 'keeps all',
    reason: 'specs take transactions away by `forkTo`, when they want it',
  },
  {
    method: 'every method',
    real: 'keeps the digits of an id up to 2^64, and refuses a request with a member twice',
    sandbox: 'ids above 2^53 lose digits; the last of two members counts',
    reason: 'JSON as JavaScript reads it; no known client sends such requests',
  },
  {
    method: '`sendTransaction`, `getSignatureStatuses`, `getTokenAccountBalance`, `getTokenSupply`',
    real: 'reads a list in place of the options as the values of their fields',
    sandbox: '-32602 for any list',
    reason: 'a side effect of serde that no known client uses',
    explains: ({ method, params }, { path }) =>
      method === 'sendTransaction' &&
      Array.isArray(params) &&
      Array.isArray(params[1]) &&
      path.startsWith('.body.error.message'),
  },
];
