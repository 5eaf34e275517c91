/** Transfers of a payment in both directions, as GET …/transactions and the analytics tables return them. */
import type { ChainId, TokenSymbol } from '../chains.ts';
import { formatAmount } from '../money.ts';
import type { Instant } from '../time.ts';
import type { Attempt, TransferLeg } from '../transfer/leg.ts';
import type { TokenRef } from './events.ts';
import type { Payin, Standing } from './sources.ts';
import type { Payment } from './state.ts';

export interface PaymentTransaction {
  readonly kind: 'payin' | 'payout' | 'refund';
  readonly chainId: ChainId;
  readonly txHash: string;
  readonly index: number;
  /** Phase of a payin, or fate of a payout's or refund's attempt. */
  readonly status: Payin['phase'] | Attempt['fate'];
  /** Null for payouts and refunds. */
  readonly standing: Standing | null;
  readonly tokenSymbol: TokenSymbol;
  readonly tokenAddress: string;
  readonly amount: string;
  readonly fromAddress: string;
  readonly toAddress: string;
  readonly blockNumber: string | null;
  readonly blockHash: string | null;
  readonly at: Instant;
}

export function transactionsOf(p: Payment): readonly PaymentTransaction[] {
  return [
    ...p.payins.map(payinRow),
    ...(p.payout ? attemptRows('payout', p.payout) : []),
    ...p.refunds.flatMap((refund) => attemptRows('refund', refund)),
  ];
}

const attemptRows = (
  kind: 'payout' | 'refund',
  { order: { token }, ...leg }: TransferLeg<TokenRef>,
): readonly PaymentTransaction[] =>
  leg.attempts.map(({ signed, fate }) => {
    const settled = [leg.settled, leg.short].find((landed) => landed?.hash === signed.hash);
    const arrived = leg.short?.hash === signed.hash ? leg.short.arrived : BigInt(signed.amount);
    return {
      kind,
      chainId: signed.chainId,
      txHash: signed.hash,
      index: signed.attempt,
      status: fate,
      standing: null,
      tokenSymbol: token.symbol,
      tokenAddress: token.address,
      amount: formatAmount(arrived, token.decimals),
      fromAddress: signed.account,
      toAddress: signed.receiver,
      blockNumber: settled?.blockNumber ?? null,
      blockHash: settled?.blockHash ?? null,
      at: signed.signedAt,
    };
  });

const payinRow = ({ transfer, standing, phase, amount }: Payin): PaymentTransaction => ({
  kind: 'payin',
  chainId: transfer.chainId,
  txHash: transfer.txHash,
  index: transfer.index,
  status: phase,
  standing,
  tokenSymbol: transfer.token.symbol,
  tokenAddress: transfer.token.address,
  amount: formatAmount(amount, transfer.token.decimals),
  fromAddress: transfer.from,
  toAddress: transfer.to,
  blockNumber: transfer.blockNumber,
  blockHash: transfer.blockHash,
  at: transfer.blockTime,
});
