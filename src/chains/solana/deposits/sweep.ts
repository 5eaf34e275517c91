/** Takes what deposits hold to the treasury, and their rent with it. Off the way of payouts: those come from the treasury's float. */
import { transferId } from '../../../../domain/payment/events.ts';
import type { Payment } from '../../../../domain/payment/state.ts';
import { statusOf, terminalStatuses } from '../../../../domain/payment/status.ts';
import type { DepositSweep, SweepDeps, Swept } from '../../family.ts';
import { checkCoin } from '../../money/floatCheck.ts';
import type { Unsigned } from '../../ports.ts';
import { tokenAccountOf } from '../addresses.ts';
import { type SolanaConfig, solanaChainId, solanaToken } from '../config.ts';
import { newsOf, unread } from '../payins/accountHistory.ts';
import { createBroadcast } from '../payouts/broadcast.ts';
import { fateOf, type Sent } from '../payouts/fate.ts';
import { feeOf, freshPrice } from '../payouts/fees.ts';
import { rehearse, spendableIn, spendableLamports } from '../payouts/preflight.ts';
import { latestBlockhash } from '../payouts/rail.ts';
import { type SolanaPayload, sweepMessage, type Terms } from '../payouts/transaction.ts';
import { type AsOf, accountsOf, accountsPerCall } from '../reads.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../rpc.ts';

const look_ms = 1_000;
const unitsMargin = 5_000;

/**
 * Empties and closes the deposit of a payment that is over, if its payment has recorded everything that came in. What arrives in between
 * makes the transaction fail as a whole. A crash after sending: the chain has it or not, and the next time finds the account gone or as
 * it was.
 */
export function createSolanaSweep(
  config: SolanaConfig,
  { signer, clock }: SweepDeps,
  rpc: SolanaRpc = createSolanaRpc(config),
): DepositSweep {
  const { treasury, fees } = config;
  const broadcast = createBroadcast(rpc);

  /** Built on what is final: what a fork could take back is no reason to close an account. */
  async function prepare(node: SolanaNode, payment: Payment): Promise<Unsigned | Swept> {
    const { address: owner, salt } = payment.terms.deposit;
    const account = tokenAccountOf(owner);
    const { slot, accounts } = await accountsOf(node, [treasury, account], { commitment: 'finalized' });
    const [wallet, held] = accounts;
    if (!held) return { kind: 'empty' };
    const asOf: AsOf = { commitment: 'finalized', minContextSlot: slot };
    const amount = spendableIn(held);
    const { credits, readTo } = await newsOf(node, account, unread, asOf);
    const recorded = new Set(payment.payins.filter(({ phase }) => phase === 'confirmed').map(({ id }) => id));
    const known = credits.every(({ credit, transaction }) =>
      recorded.has(transferId({ chainId: solanaChainId, txHash: transaction.signature, index: credit.index })),
    );
    if (!known || readTo.amount !== amount) return { kind: 'left', why: 'holds money that is not recorded yet' };

    const price_microLamports = await freshPrice(node, [account], fees);
    const { blockhash, lastValidBlockHeight } = await latestBlockhash(node, { commitment: 'confirmed' });
    const terms: Terms = { blockhash, units: fees.unitsMax, price_microLamports };
    const deposited = { owner, amount };
    const rehearsedAt: AsOf = { commitment: 'confirmed', minContextSlot: slot };
    const used = await rehearse(node, sweepMessage(treasury, deposited, terms), 2, rehearsedAt);
    const units = Math.min(used + unitsMargin, fees.unitsMax);
    const fee = feeOf(units, price_microLamports, 2);
    checkCoin(spendableLamports(wallet), treasury, { chainId: solanaChainId, unit: 'lamports', most: fee });
    const message = sweepMessage(treasury, deposited, { ...terms, units });
    const payload: SolanaPayload = { message: Buffer.from(message).toString('base64'), salt };
    const token = solanaToken();
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

  /** Until it is final or can never land. */
  async function land(sent: Sent, amount: bigint, signal: AbortSignal): Promise<Swept> {
    for (;;) {
      signal.throwIfAborted();
      const fate = await fateOf(rpc, sent, signal);
      if (fate.kind === 'final') return { kind: 'swept', amount, hash: sent.hash };
      if (fate.kind === 'dead') return { kind: 'left', why: fate.proof.detail };
      if (fate.kind === 'unknown') await broadcast(sent.bytes).catch(() => {});
      await clock.sleep(look_ms, signal);
    }
  }

  return {
    heldMax: accountsPerCall,

    async held(owners, signal) {
      const asked = owners.map(tokenAccountOf);
      const { accounts } = await rpc.answer(
        (node) => accountsOf(node, asked, { commitment: 'finalized', slice: { offset: 0, length: 0 } }),
        signal,
      );
      return owners.filter((_, at) => accounts[at] !== null);
    },

    async sweep(payment, signal) {
      if (!terminalStatuses.includes(statusOf(payment))) return { kind: 'left', why: 'its payment is not over' };
      const prepared = await rpc.answer((node) => prepare(node, payment), signal);
      if ('kind' in prepared) return prepared;
      const purpose = { kind: 'sweep', reference: payment.terms.paymentId } as const;
      const { bytes, hash } = await signer.sign(prepared, purpose);
      return land({ attempt: 1, bytes, hash, validUntil: prepared.validUntil }, prepared.order.amount, signal);
    },
  };
}
