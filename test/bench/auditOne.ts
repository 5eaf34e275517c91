/** One audit of a filled log, in a separate process, so that its memory can be measured. Arguments: event store, payments, directory. */
import type { AccountTransaction } from '../../commands/accountHistory.ts';
import { chainOf } from '../../domain/chains.ts';
import { instant } from '../../domain/time.ts';
import { openEventStore } from '../../src/store/client.ts';
import type { Witness } from '../../tools/audit/chains.ts';
import { runAudit } from '../../tools/audit/run.ts';
import { paidOut } from './histories.ts';

const [, , url = '', payments = '0', directory = ''] = process.argv;
const count = Number(payments);
const time = instant(Date.now() - 24 * 60 * 60_000);
const [token] = chainOf(8453).tokens;

const transactionOf = (n: number): AccountTransaction => {
  const { hash, blockNumber, blockHash, receiver, units } = paidOut(n);
  return {
    txHash: hash,
    blockNumber: BigInt(blockNumber),
    blockHash,
    time,
    nonce: BigInt(n),
    outgoing: true,
    succeeded: true,
    fee: 0n,
    changes: [{ asset: token?.address ?? '', amount: -units, counterparty: receiver }],
  };
};

/** A chain that answers at once, so that only the audit is measured. */
const witness: Witness = {
  chainId: 8453,
  family: 'evm',
  accounts: async () => [{ account: paidOut(0).account, payinAddresses: [] }],
  history: {
    listsCoin: false,
    async transactions({ after, max }) {
      const first = Number(after ?? 0);
      const end = Math.min(count, first + max);
      const transactions = Array.from({ length: end - first }, (_, at) => transactionOf(first + at));
      return { transactions, next: end < count ? String(end) : null, complete: true };
    },
    standing: async () => ({ blockNumber: BigInt(10 * count + 10_000), blockHash: '0x', time, balances: {} }),
  },
  blockAt: async () => 0n,
};

const store = openEventStore({ url });
const report = await runAudit({
  log: store,
  believed: null,
  witnesses: [witness],
  directory,
  now: () => instant(Date.now()),
  patience_ms: 0,
  approvalFrom_microUsd: null,
  signal: new AbortController().signal,
});
await store.close();
const { events, transactions, seconds, found, findings } = report;
// Linux and macOS report the maximum in kilobytes.
const memory_mb = process.resourceUsage().maxRSS / 1024;
process.stdout.write(JSON.stringify({ events, transactions, seconds, memory_mb, found, first: findings[0] ?? null }));
