/** A payment on Base whose payers sign real authorizations, over a store in memory and a chain that the spec controls. */
import assert from 'node:assert/strict';
import { currentState } from '../../commands/handle.ts';
import type {
  Accepted,
  RelayDraft,
  RelayOrder,
  RelayRefusal,
  Relays,
  SignedAuthorization,
} from '../../commands/relayPorts.ts';
import { createRelays } from '../../commands/relays.ts';
import { PayoutBlocked } from '../../commands/transferPorts.ts';
import type { ChainId } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { Deposit, PaymentEvent, Transfer } from '../../domain/payment/events.ts';
import { type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import type { RelayEnd } from '../../domain/relay/events.ts';
import type { RelayLimits } from '../../domain/relay/gas.ts';
import { relay, relayIdOf } from '../../domain/relay/relay.ts';
import { epochMs, plus } from '../../domain/time.ts';
import { accountIn } from '../../src/chains/evm/addresses.ts';
import { acceptedSignature, knownDomain, nonceFrom, wordIn } from '../../src/chains/evm/authorization.ts';
import { isAuthorization } from '../../src/chains/evm/payouts/rail.ts';
import { baseUsdc, created, depositAddress, minute, payin, type TermsSketch, terms } from './payments.ts';
import { accepted, crashAt, processes } from './processes.ts';
import { anyPayer, authorize, type SignedFields } from './x402.ts';

export const { paymentId, appId } = terms();
const by = { cause: 'payer' } as const;
const { signal } = new AbortController();

/** Whole dollars. */
const usd = (amount: number): bigint => BigInt(Math.round(amount * 1e6));

export const wide: RelayLimits = {
  perRelay_microUsd: usd(1),
  perPayerHour_microUsd: usd(10),
  perAppHour_microUsd: usd(10),
  perHour_microUsd: usd(10),
  aboveFee_microUsd: usd(1),
};

/** @param stored false: the payment is only drafted */
export async function relayDesk({
  sketch = {} as TermsSketch,
  limits = {} as Partial<RelayLimits>,
  stored = true,
} = {}) {
  const world = processes({ now: minute(1) });
  const { start, time, clock } = world;
  const around = {
    /** Present cost of a relay, in millionths of a coin that is worth a dollar. */
    cost: 1_000n,
    /** The part of it that comes back. */
    rent: 0n,
    ends: null as RelayEnd | 'gas' | null,
    offers: true,
    simulated: [] as RelayOrder[],
    /** Transaction of somebody else that moved the money. */
    movedBy: null as string | null,
    registered: [] as string[],
    claimed: [] as string[],
    /** True if an operator has given the moved money to another receiver. */
    givenElsewhere: false,
    /** The payment's deposit after the choice of a source. */
    discloses: null as ((derived: Deposit) => Deposit) | null,
    limits: { ...wide, ...limits },
  };
  const handle = start();
  const record = (events: readonly PaymentEvent[]) =>
    accepted(handle(paymentDecider, paymentId, () => events, { cause: 'worker:test', appId }));
  if (stored) await record([created(sketch)]);

  const relaysWith = (point = '') =>
    createRelays({
      handle: start(),
      clock,
      crash: crashAt(point),
      relayOn: (chainId: ChainId) =>
        chainId === 8453
          ? {
              network: `eip155:${chainId}`,
              async termsOf() {
                const domain = around.offers ? knownDomain(baseUsdc.chain, baseUsdc.token.address) : null;
                return domain && { kind: 'eip712', networkId: chainId, domain };
              },
              assetOf: ({ address }) => address,
              receiverOf: ({ address }) => address,
              depositIn: (address) => ({ address, memo: null }),
              signatureOf: async (of, signing, text) =>
                signing.kind === 'eip712' ? acceptedSignature(chainId, of, signing.domain, text) : null,
              nonceIn: wordIn,
              nonceOf: nonceFrom,
              accountOf: accountIn,
              async simulate(order) {
                assert(isAuthorization(order));
                around.simulated.push(order);
                if (around.ends === 'gas') throw new PayoutBlocked('gas', 'the chain is dear');
                if (around.ends)
                  throw new PayoutBlocked('refusedByToken', `it is ${around.ends}`, around.ends, around.movedBy);
                return { fee: around.cost, rent: around.rent };
              },
            }
          : undefined,
      priceOf: () => ({ price_microUsd: usd(1), decimals: 6 }),
      limits: around.limits,
      depositOf: async () => ({ ...terms().deposit, address: depositAddress }),
      async chooseSource(_id, _source, _by, derived) {
        const { discloses } = around;
        const payment = await currentState(start(), paymentDecider, paymentId);
        if (!payment || !discloses) return { refused: 'conflict', message: 'nothing is chosen here' };
        return { ...payment, deposits: { ...payment.deposits, evm: discloses(derived) } };
      },
      async claimUnmatched(_id, { txHash }) {
        around.claimed.push(txHash);
        return around.givenElsewhere ? { refused: 'illegalStep', message: 'an operator refunded it' } : undefined;
      },
      registerPayin: async (_own, { txHash }) => void around.registered.push(txHash),
    });

  /** Signs the amount due, by the clock of the spec. */
  async function signed(payer = anyPayer(), altered: Partial<SignedFields> = {}): Promise<SignedAuthorization> {
    const requirement = {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '10010000',
      asset: baseUsdc.token.address as `0x${string}`,
      payTo: depositAddress as `0x${string}`,
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    };
    const validBefore = String(Math.floor(epochMs(clock.now()) / 1_000) + 300);
    const { signature, authorization } = await authorize(payer, requirement, { validBefore, ...altered });
    return { chainId: 8453, tokenAddress: requirement.asset, ...authorization, signature };
  }

  const accept = (sent: SignedAuthorization, { at = '', of = paymentId } = {}): Promise<Accepted | RelayRefusal> =>
    relaysWith(at).accept(of, sent, by, signal);

  return {
    ...world,
    around,
    record,
    signed,
    accept,
    draftOf: (): RelayDraft => ({
      payment: paymentDecider.evolve(null, created(sketch)) ?? assert.fail(),
      isFresh: true,
      async create() {
        const decide = (state: PaymentState) => (state ? [] : [created(sketch)]);
        return (
          (await accepted(start()(paymentDecider, paymentId, decide, { cause: 'payer', appId }))).state ?? assert.fail()
        );
      },
    }),
    crashing: relaysWith,
    /** The relays of an instance, with the present costs. */
    relays: {
      read: (...asked) => relaysWith().read(...asked),
      desk: (...asked) => relaysWith().desk(...asked),
      draftDesk: (...asked) => relaysWith().draftDesk(...asked),
      find: (...asked) => relaysWith().find(...asked),
      accept: (...asked) => relaysWith().accept(...asked),
      verify: (...asked) => relaysWith().verify(...asked),
    } satisfies Relays as Relays,
    desk: () => relaysWith().desk(paymentId, signal),
    find: (sent: SignedAuthorization) => relaysWith().find(paymentId, sent),
    /** The fault of a refusal, or the relay's status. */
    async outcome(sent: SignedAuthorization): Promise<string> {
      const answer = await accept(sent);
      return isRefusal(answer) ? answer.fault : answer.result.kind;
    },
    relay: (number: number) => currentState(start(), relay, relayIdOf(paymentId, number)),
    /** The payer's money in the form of the chain. */
    paidBy: (payer: string): Transfer => ({ ...payin({ amount: '10.01' }), from: payer }),
    pass(duration_ms: number) {
      time.now = plus(time.now, duration_ms);
    },
  };
}
