/** Takes what deposits hold to the treasury, with their rent. No payout waits for it: those come from the treasury's float. */
import type { Token } from '../../../../domain/chains.ts';
import { assert } from '../../../../domain/decider.ts';
import { type Deposit, transferId } from '../../../../domain/payment/events.ts';
import { takesUp } from '../../../../domain/payment/payins.ts';
import type { Payment } from '../../../../domain/payment/state.ts';
import { statusOf, terminalStatuses } from '../../../../domain/payment/view.ts';
import type { DepositSweep, SweepDeps, Swept } from '../../family.ts';
import { checkCoin } from '../../money/spending.ts';
import type { Unsigned } from '../../ports.ts';
import { type SolanaConfig, solanaChain, solanaChainId } from '../config.ts';
import { readHistory, unread } from '../payins/accountHistory.ts';
import { fateOf, type Sent } from '../payouts/fate.ts';
import { feeOf, freshPrice, rehearse, spendableIn, spendableLamports } from '../payouts/preflight.ts';
import { createBroadcast } from '../payouts/rail.ts';
import { type SolanaPayload, sweepMessage, type Terms } from '../payouts/transaction.ts';
import { type AsOf, accountsOf, accountsPerCall, latestBlockhash } from '../reads.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../rpc.ts';
import { tokenAccountOf } from '../tokenProgram.ts';

const poll_ms = 1_000;
const unitsMargin = 5_000;
/** The treasury's and the deposit's. */
const signers = 2;

function depositOf({ deposits, terms }: Payment): Deposit {
  assert(deposits.solana !== undefined, `payment ${terms.paymentId} has a deposit on Solana`);
  return deposits.solana;
}

/**
 * Empties and closes the token accounts of a payment that is over, if its payment has recorded everything that came in and that it takes up. What arrives in
 * between makes the transaction fail as a whole. A crash after sending: the chain has it or not, and the next run finds the account gone
 * or as it was.
 */
export function createSolanaSweep(
  config: SolanaConfig,
  { signer, clock }: SweepDeps,
  rpc: SolanaRpc = createSolanaRpc(config),
): DepositSweep {
  const { treasury, fees } = config;
  const broadcast = createBroadcast(rpc);
  const { tokens } = solanaChain();

  /** Built on what is final: what a fork could take back is no reason to close an account. */
  async function prepare(node: SolanaNode, payment: Payment, token: Token): Promise<Unsigned | 'empty' | 'unrecorded'> {
    const { address: owner, salt } = depositOf(payment);
    const account = tokenAccountOf(owner, token.address);
    const { slot, accounts } = await accountsOf(node, [treasury, account], { commitment: 'finalized' });
    const [wallet, held] = accounts;
    if (!held) return 'empty';
    const amount = spendableIn(held);
    const history = { commitment: 'finalized', minContextSlot: slot } as const;
    const { credits, unreadable, explained } = await readHistory(
      node,
      { owner, account, amount, slot },
      unread,
      history,
    );
    const recorded = new Set(payment.payins.filter(({ phase }) => phase === 'confirmed').map(({ id }) => id));
    const known = credits.every(
      ({ credit: { index, from, amount: units, token: of }, transaction: { signature: txHash } }) => {
        const transfer = {
          chainId: solanaChainId as typeof solanaChainId,
          txHash,
          index,
          from,
          token: of,
          amount: units.toString(),
        };
        return recorded.has(transferId(transfer)) || !takesUp(payment, transfer);
      },
    );
    if (!known || !explained || unreadable.length > 0) return 'unrecorded';

    const price_microLamports = await freshPrice(rpc, [account], fees);
    const {
      slot: newest,
      blockhash,
      lastValidBlockHeight,
    } = await latestBlockhash(node, { commitment: 'confirmed', minContextSlot: slot });
    const terms: Terms = { blockhash, units: fees.unitsMax, price_microLamports };
    const deposited = { owner, token, amount };
    const asOf: AsOf = { commitment: 'confirmed', minContextSlot: newest };
    const used = await rehearse(node, sweepMessage(treasury, deposited, terms), signers, asOf);
    const units = Math.min(used + unitsMargin, fees.unitsMax);
    const fee = feeOf(units, price_microLamports, signers);
    checkCoin(spendableLamports(wallet), treasury, { chainId: solanaChainId, unit: 'lamports', most: fee });
    const message = sweepMessage(treasury, deposited, { ...terms, units });
    const payload: SolanaPayload = { message: Buffer.from(message).toString('base64'), salt };
    return {
      chainId: solanaChainId,
      account: treasury,
      nonce: null,
      order: { chainId: solanaChainId, token, receiver: treasury, receiverMemo: null, amount },
      validUntil: lastValidBlockHeight.toString(),
      fee: { maxFee: fee.toString() },
      payload,
    };
  }

  async function sweepToken(payment: Payment, token: Token, signal: AbortSignal): Promise<Swept | undefined> {
    const prepared = await rpc.answer((node) => prepare(node, payment, token), signal);
    if (prepared === 'empty') return undefined;
    if (prepared === 'unrecorded') return { kind: 'left', why: 'holds money that is not recorded yet' };
    const purpose = { kind: 'sweep', reference: payment.terms.paymentId } as const;
    const { bytes, hash } = await signer.sign(prepared, purpose);
    const failure = await land({ attempt: 1, bytes, hash, validUntil: prepared.validUntil }, signal);
    if (failure !== undefined) return { kind: 'left', why: failure };
    return { kind: 'swept', token, amount: prepared.order.amount, hash };
  }

  /** Until it is final or can never land. @returns why it cannot; undefined when it is final */
  async function land(sent: Sent, signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      signal.throwIfAborted();
      // It goes from one account of ours to another.
      const fate = await fateOf(rpc, sent, 0n, signal);
      if (fate.kind === 'final') return undefined;
      if (fate.kind === 'dead') return fate.proof.detail;
      if (fate.kind === 'unknown') await broadcast(sent.bytes).catch(() => {});
      await clock.sleep(poll_ms, signal);
    }
  }

  return {
    heldMax: Math.floor(accountsPerCall / tokens.length),

    async held(owners, signal) {
      const asked = owners.flatMap((owner) => tokens.map(({ address }) => tokenAccountOf(owner, address)));
      const { accounts } = await rpc.answer(
        (node) => accountsOf(node, asked, { commitment: 'finalized', slice: { offset: 0, length: 0 } }),
        signal,
      );
      return owners.filter((_, at) =>
        accounts.slice(at * tokens.length, (at + 1) * tokens.length).some((account) => account !== null),
      );
    },

    async sweep(payment, signal) {
      if (!terminalStatuses.includes(statusOf(payment))) return [{ kind: 'left', why: 'its payment is not over' }];
      const outcomes: Swept[] = [];
      for (const token of tokens) {
        const outcome = await sweepToken(payment, token, signal);
        if (outcome) outcomes.push(outcome);
      }
      return outcomes;
    },
  };
}
