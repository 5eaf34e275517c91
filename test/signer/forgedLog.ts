/** A separate signer beside a service whose log an attacker writes: only the answers of the signer's own nodes are true. */
import { privateKeyToAddress } from 'viem/accounts';
import type { Ingester } from '../../commands/chainPorts.ts';
import type { Fate, Signed, SigningPurpose, TransferOrder, Unsigned } from '../../commands/transferPorts.ts';
import type { ChainId } from '../../domain/chains.ts';
import type { Decider, DomainEvent } from '../../domain/decider.ts';
import { type PaymentEvent, type Transfer, transferId } from '../../domain/payment/events.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import type { PurposeKind } from '../../domain/transfer/shapes.ts';
import { nonceOf, openAndAssign } from '../../domain/treasury/nonces.ts';
import { treasury, treasuryInstance } from '../../domain/treasury/state.ts';
import { buildUnsigned, callFor } from '../../src/chains/evm/payouts/transaction.ts';
import { createEvmSigner } from '../../src/chains/evm/signer/signer.ts';
import { createSpending, createSpentLately, spendingKey } from '../../src/chains/money/spending.ts';
import { createBacking } from '../../src/signer/backing.ts';
import { createNotary, createSigningRecord } from '../../src/signer/notary.ts';
import { createOrders } from '../../src/signer/orders.ts';
import { read, write } from '../../src/signer/protocol.ts';
import { createFundingProof, createMoneyProof } from '../../src/workers/payouts/fundingProof.ts';
import { payoutOwner, rebalanceOwner, refundOwner, unmatchedRefundOwner } from '../../src/workers/payouts/owners.ts';
import { minute, terms } from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

type Witness = Pick<Ingester, 'agreed' | 'sharedAddresses'>;

const privateKey = `0x${'11'.repeat(32)}` as const;
const account = privateKeyToAddress(privateKey);
const facts = { cause: 'worker:test', appId: null } as const;
const { signal } = new AbortController();
const price = { maxFeePerGas: 1_000_000_000n, maxPriorityFeePerGas: 1n };

/** @param onChain transfers that the signer's nodes return, or a replacement of a chain's nodes */
export function forgedLog(
  onChain: readonly Transfer[] | ReadonlyMap<ChainId, Witness>,
  shared: readonly string[] = [],
) {
  const service = processes({ now: minute(90) });
  const own = processes({ now: minute(90) });
  const handle = service.start();
  const stakes: bigint[] = [];
  const ingester: Witness = {
    async agreed(transfer, { usd }) {
      stakes.push(usd);
      return { agreed: 'map' in onChain && onChain.some((each) => isShown(each, transfer)) };
    },
    sharedAddresses: shared,
  };
  const ingesters = 'map' in onChain ? everywhere(ingester) : onChain;
  const witnesses = new Map(
    [...ingesters].map(([id, each]) => [id, { ingester: each, rail: { stillFinal: async () => true } }]),
  );
  const proveFunding = createFundingProof(witnesses);
  const lately = createSpentLately();
  const spending = createSpending({ perTransfer_usd: 1_000n, perHour_usd: 100_000n }, own.clock, lately);
  const reading = { handle: service.start(), clock: service.clock };
  const rail = { fate: async (): Promise<Fate> => ({ kind: 'unknown' }) };
  const notary = createNotary({
    signers: new Map([['evm', createEvmSigner({ privateKey, spending })]]),
    rails: new Map(evmChainIds.map((id) => [id, rail])),
    orders: createOrders({
      handle: reading.handle,
      owners: {
        payout: payoutOwner({ ...reading, proveFunding }),
        refund: refundOwner({ ...reading, proveFunding }),
        rebalance: rebalanceOwner({
          ...{ ...reading, railOf: () => undefined, receiverChecks: {} },
          owedOn: async () => owesNothing,
        }),
        unmatchedRefund: unmatchedRefundOwner({ ...reading, proveMoney: createMoneyProof(witnesses) }),
      },
      accountOn: () => account,
      backing: createBacking({
        ...{ ...reading, store: service.store, ingesters, proveFunding },
        isOwnDeposit: async (_family, _paymentId, { scheme }) => scheme === terms().deposit.scheme,
      }),
    }),
    record: createSigningRecord(own.start(), own.clock),
    spent: (unsigned, reference) => lately.entries.get(spendingKey(unsigned, reference)),
    clock: own.clock,
  });

  const append = <S, E extends DomainEvent>(decider: Decider<S, E>, instance: string, events: readonly E[]) =>
    accepted(handle(decider, instance, () => events, facts));

  async function nonceFor({ chainId, token, amount }: TransferOrder, { kind, reference }: SigningPurpose) {
    const purpose = { kind, reference, ordinal: 1 };
    const moves = { token: token.address, amount: amount.toString() };
    const opened = { chainId, account, minedNonce: 0n, now: minute(90), purpose, moves };
    const { state } = await accepted(
      handle(treasury, treasuryInstance(chainId, account), (known) => openAndAssign(known, opened), facts),
    );
    return nonceOf(state, purpose) ?? 0n;
  }

  return {
    account,
    stakes,
    append,
    handle,
    store: service.store,
    appendToPayment: (events: readonly PaymentEvent[]) => append(paymentDecider, terms().paymentId, events),
    /** Requests the transfer like the service. */
    async sign(kind: PurposeKind, reference: string, order: TransferOrder, appId = terms().appId): Promise<Signed> {
      const purpose: SigningPurpose = { kind, reference, ...(appId !== '' && { appId }) };
      const nonce = await nonceFor(order, purpose);
      const call = callFor(order, account);
      const unsigned: Unsigned = buildUnsigned({ account, nonce, order, call, gas: 100_000n, price } as never);
      return notary.sign(read.asked(write({ unsigned, purpose })), signal);
    },
  };
}

const owesNothing = { tokens: new Map(), coin: 0n, payouts: 0 } as const;

const evmChainIds = [8453, 137, 56, 1] as const;

const everywhere = (ingester: Witness): ReadonlyMap<ChainId, Witness> =>
  new Map([...evmChainIds, 501, 1500].map((id) => [id as ChainId, ingester]));

/** Nodes identify a token by its contract and do not know the log's decimals. */
const isShown = (known: Transfer, asked: Transfer): boolean =>
  transferId(known) === transferId(asked) &&
  known.amount === asked.amount &&
  known.to === asked.to &&
  known.token.address === asked.token.address;
