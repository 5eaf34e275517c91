/** Differences between a real node and the imitation that stay. docs/contribute/real-chains.md lists them. */
import type { MeantDifference } from '../stellarComparison.ts';

export const meantDifferences: readonly MeantDifference[] = [
  {
    method: 'getNetwork',
    real: 'no `friendbotUrl`, as on the public network',
    imitation: '`friendbotUrl`',
    reason: 'The SDK funds new accounts of the sandbox by it.',
    field: 'friendbotUrl',
  },
  {
    method: 'getNetwork, getVersionInfo',
    real: 'protocol 23',
    imitation: 'protocol 27',
    reason: 'The public network runs later versions than the one that was tried.',
  },
  {
    method: 'getLatestLedger, getLedgers',
    real: 'metadata with transactions; hashes of the contents',
    imitation: 'metadata without transactions; a hash for each number',
    reason: 'The service reads neither.',
  },
  {
    method: 'simulateTransaction',
    real: 'metered resources, and a log of the host in `error`',
    imitation: 'the same resources for each call, 60,000 stroops, and one line in `error`',
    reason: 'Nothing is metered. The first line of `error` is the same.',
  },
  {
    method: 'getTransaction, getTransactions',
    real: 'diagnostic events with metered numbers, and an error of each calling contract',
    imitation: 'diagnostic events of calls and returns, and one error',
    reason: 'Nothing is metered.',
  },
  {
    method: 'sendTransaction',
    real: 'offers, sponsorship, claimable balances, liquidity pools, merges',
    imitation: '`opNotSupported`; a path through two assets finds no offers',
    reason: 'The service and its wallets send none of them.',
  },
  {
    method: 'all with `xdrFormat`',
    real: '`json`',
    imitation: 'an error that names base64',
    reason: 'No client asks for JSON.',
  },
  {
    method: 'rpc.serverInfo',
    real: "the server's metrics",
    imitation: '-32601',
    reason: 'No client calls it.',
  },
  {
    method: 'any request from a page',
    real: 'answers pages of every origin',
    imitation: '403 for pages of other machines',
    reason: 'A page on the internet must not drive a sandbox.',
  },
];

export const meantFor = (method: string): readonly MeantDifference[] =>
  meantDifferences.filter((difference) => difference.method === method);
