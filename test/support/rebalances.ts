/** Words for specifications of rebalances: 1000 USDC from Base to Ethereum, ordered by the policy with standard finality. */
import {
  address32,
  addressing,
  type BurnMessage,
  burnMessageVersion,
  formatBurnMessage,
} from '../../domain/rebalance/burnMessage.ts';
import {
  burnTokenOn,
  type CctpChainId,
  cctpContracts,
  contractsOn,
  type Finality,
  inMessageUnits,
  standard,
} from '../../domain/rebalance/cctp.ts';
import type { CctpOrdered, RebalanceEvent, RebalanceOrdered } from '../../domain/rebalance/events.ts';
import type { SignedAttempt } from '../../domain/transfer/shapes.ts';
import { baseUsdc, ethereumUsdc, hashOf, minute, treasuryAccount } from './payments.ts';

export const thousand = 1_000_000_000n;

export const move = (
  change: Partial<CctpOrdered> = {},
  route: { finality?: Finality; feeMax?: string } = {},
): CctpOrdered => ({
  from: { chainId: 8453, account: treasuryAccount, token: baseUsdc.token },
  to: { chainId: 1, account: treasuryAccount, token: ethereumUsdc.token },
  amount: thousand.toString(),
  route: {
    kind: 'cctp',
    sourceDomain: 6,
    destinationDomain: 0,
    ...cctpContracts,
    finality: standard,
    feeMax: '200000',
    ...route,
  },
  value_microUsd: thousand.toString(),
  approvals: 0,
  reason: 'below its minimum',
  by: 'worker:rebalances',
  orderedAt: minute(1),
  ...change,
});

export const nonce32 = 'ab'.repeat(32);

/** The message that Circle signs for the move. */
export const messageOf = (order: CctpOrdered = move(), change: Partial<BurnMessage> = {}): string =>
  formatBurnMessage({
    version: burnMessageVersion,
    sourceDomain: order.route.sourceDomain,
    destinationDomain: order.route.destinationDomain,
    nonce: nonce32,
    sender: address32(order.route.messenger),
    recipient: address32(contractsOn(order.to.chainId as CctpChainId).messenger),
    minFinality: order.route.finality,
    finalityExecuted: order.route.finality,
    burnVersion: burnMessageVersion,
    burnToken: address32(burnTokenOn(order.from.chainId as CctpChainId) ?? order.from.token.address),
    amount: inMessageUnits(BigInt(order.amount), order.from.token),
    messageSender: address32(order.from.account),
    feeMax: inMessageUnits(BigInt(order.route.feeMax), order.from.token),
    feeExecuted: 0n,
    expirationBlock: 0n,
    ...addressing(order.route.destinationDomain, order.to.account),
    ...change,
  });

export const attestation = `0x${'1b'.repeat(130)}`;

const attemptOf = (
  kind: 'burn' | 'mint',
  attempt: number,
): Omit<SignedAttempt, 'chainId' | 'token' | 'receiver' | 'amount'> => ({
  attempt,
  account: treasuryAccount,
  nonce: String(6 + attempt),
  hash: hashOf(kind, attempt),
  bytes: '0x02',
  validUntil: null,
  fee: { maxFeePerGas: '100', gas: '65000' },
  receiverMemo: null,
  signedAt: minute(2),
});

export const burnAttempt = (order: RebalanceOrdered = move(), attempt = 1): SignedAttempt => ({
  ...attemptOf('burn', attempt),
  chainId: order.from.chainId,
  token: order.from.token,
  receiver: order.route.minter,
  amount: order.amount,
});

export const mintAttempt = (order: RebalanceOrdered = move(), attempt = 1, amount = order.amount): SignedAttempt => ({
  ...attemptOf('mint', attempt),
  chainId: order.to.chainId,
  token: order.to.token,
  receiver: order.to.account,
  amount,
});

export const landed = (kind: 'burn' | 'mint', attempt = 1, block = 9) => ({
  attempt,
  hash: hashOf(kind, attempt),
  blockNumber: String(block),
  blockHash: hashOf('block', block),
});

export const proof = { reason: 'reverted', detail: 'reverted in block 9' } as const;

export const ordered = (order: RebalanceOrdered = move()): RebalanceEvent => ({
  type: 'RebalanceOrdered',
  data: order,
});
export const burnSigned = (order?: RebalanceOrdered, attempt?: number): RebalanceEvent => ({
  type: 'BurnSigned',
  data: burnAttempt(order, attempt),
});
export const burnConfirmed = (attempt = 1): RebalanceEvent => ({
  type: 'BurnConfirmed',
  data: { ...landed('burn', attempt), confirmedAt: minute(3) },
});
export const attested = (order: CctpOrdered = move(), change: Partial<BurnMessage> = {}): RebalanceEvent => ({
  type: 'BurnAttested',
  data: {
    burnHash: hashOf('burn', 1),
    message: messageOf(order, change),
    attestation,
    feeExecuted: String(change.feeExecuted ?? 0n),
    expirationBlock: String(change.expirationBlock ?? 0n),
    attestedAt: minute(4),
  },
});
export const mintSigned = (order?: RebalanceOrdered, attempt?: number, amount?: string): RebalanceEvent => ({
  type: 'MintSigned',
  data: mintAttempt(order, attempt, amount),
});
export const mintConfirmed = (received = move().amount, attempt = 1): RebalanceEvent => ({
  type: 'MintConfirmed',
  data: { ...landed('mint', attempt), received, confirmedAt: minute(5) },
});
