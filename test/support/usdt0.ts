/** Words for specifications of USDT0: 100 USDT from Arbitrum to Ethereum, ordered by an operator. */
import { inMessageUnits } from '../../domain/rebalance/cctp.ts';
import type { OftRoute, RebalanceEvent, RebalanceOrdered } from '../../domain/rebalance/events.ts';
import { sendableOn, type Usdt0ChainId, usdt0Route } from '../../domain/rebalance/usdt0.ts';
import { hashOf, minute, treasuryAccount } from './payments.ts';
import { burnAttempt, landed } from './rebalances.ts';

export const messageFee_wei = 250_000_000_000_000n;
export const guid = `0x${'9d'.repeat(32)}`;

interface Ends {
  readonly from?: Usdt0ChainId;
  readonly to?: Usdt0ChainId;
  readonly account?: string;
  readonly amount?: bigint;
}

export const sendOrder = (
  { from = 42161, to = 1, account = treasuryAccount, amount = 100_000_000n }: Ends = {},
  route: Partial<OftRoute> = {},
): RebalanceOrdered => {
  const [source, destination] = [sendableOn(from), sendableOn(to)];
  if (!source || !destination) throw new Error('USDT0 is on both chains');
  const assetOf = ({ symbol, address, decimals }: typeof source) => ({ symbol, address, decimals });
  return {
    from: { chainId: from, account, token: assetOf(source) },
    to: { chainId: to, account, token: assetOf(destination) },
    amount: amount.toString(),
    route: { ...usdt0Route(from, to, messageFee_wei), ...route },
    value_microUsd: inMessageUnits(amount, source).toString(),
    approvals: 0,
    reason: 'payouts on Ethereum',
    by: 'ada',
    orderedAt: minute(1),
  };
};

export const sendSigned = (order: RebalanceOrdered = sendOrder(), attempt = 1): RebalanceEvent => ({
  type: 'BurnSigned',
  data: burnAttempt(order, attempt),
});

export const arrived = (change: { received?: string; hash?: string } = {}): RebalanceEvent => ({
  type: 'MintedByOther',
  data: {
    hash: hashOf('arrival'),
    blockNumber: landed('mint').blockNumber,
    blockHash: landed('mint').blockHash,
    received: '100000000',
    guid,
    seenAt: minute(20),
    ...change,
  },
});
