/** Balances of deposits on Solana, with their rent. No payout waits for sweeps: payouts come from the treasury's float. */
import type {
  DepositSweep,
  HeldDeposit,
  LeftDeposit,
  PaidDeposit,
  SweepPart,
} from '../../../../commands/sweeps/ports.ts';
import type { Token } from '../../../../domain/chains.ts';
import { assert } from '../../../../domain/decider.ts';
import { type Deposit, transferId } from '../../../../domain/payment/events.ts';
import { takesUp } from '../../../../domain/payment/payins.ts';
import type { Payment, PaymentState } from '../../../../domain/payment/state.ts';
import { statusOf, terminalStatuses } from '../../../../domain/payment/view.ts';
import { type SolanaConfig, solanaChain, solanaChainId, tokenAccountRent } from '../config.ts';
import { readHistory, unread } from '../payins/accountHistory.ts';
import { feeOf, freshPrice } from '../payouts/preflight.ts';
import { accountsOf, accountsPerCall } from '../reads.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../rpc.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';

const unrecorded = 'holds money that is not recorded yet';

/** The treasury's and the deposit's. */
const signers = 2;
/** Each takes some seconds until it is final. */
const partsMax = 8;

/**
 * Token accounts are emptied and closed one by one, and only if their payment has recorded all receipts up to its maximum: a closed account
 * is not read any more.
 * @param paymentOf throws Unavailable
 * @param recoverTokens has the deposits' keys, which this code never sees
 */
export function createSolanaSweep(
  config: SolanaConfig,
  paymentOf: (paymentId: string) => Promise<PaymentState>,
  rpc: SolanaRpc = createSolanaRpc(config),
  recoverTokens?: DepositSweep['recoverTokens'],
): DepositSweep {
  const { treasury, fees } = config;
  const { tokens } = solanaChain();
  const late = rpc.as('late');

  /** Final balances: a balance that a fork could undo is no reason to close an account. */
  async function amounts(node: SolanaNode, deposits: readonly PaidDeposit[]) {
    const asked = deposits.flatMap((deposit) => tokens.map((token) => ({ deposit, token })));
    const owned = asked.map(({ deposit, token }) => tokenAccountOf(deposit.address, token.address));
    const { accounts } = await accountsOf(node, owned, { commitment: 'finalized' });
    return asked.flatMap((each, at) => {
      const amount = tokenAccountIn(accounts[at])?.amount;
      return amount === undefined ? [] : [{ ...each, amount }];
    });
  }

  async function problemWith(
    { address, paymentId, token }: HeldDeposit,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const payment = await paymentOf(paymentId);
    if (!payment || !terminalStatuses.includes(statusOf(payment))) return 'its payment is not over';
    const looked = await late.answer(async (node) => ({ why: await problemIn(node, payment, address, token) }), signal);
    return looked.why;
  }

  return {
    chainId: solanaChainId,
    account: treasury,
    heldMax: Math.floor(accountsPerCall / tokens.length),
    partsMax,
    depositsMax: 1,

    async ready() {},

    ...(recoverTokens && { recoverTokens }),

    async held(deposits, signal) {
      const found = await late.answer((node) => amounts(node, deposits), signal);
      const saltOf = async ({ address, paymentId }: PaidDeposit) => {
        const deposit = (await paymentOf(paymentId))?.deposits.solana;
        assert(deposit?.address === address, `${address} is the deposit of payment ${paymentId}`);
        return saltIn(deposit);
      };
      return Promise.all(
        found.map(async ({ deposit, token, amount }) => ({ ...deposit, token, amount, salt: await saltOf(deposit) })),
      );
    },

    async plan(held, most, signal) {
      const [parts, left]: [SweepPart[], LeftDeposit[]] = [[], []];
      for (const deposit of held) {
        if (parts.length >= most) break;
        const why = await problemWith(deposit, signal);
        if (why !== undefined) left.push({ ...deposit, why, ...(why === unrecorded && { unrecorded: true }) });
        else {
          const price = await freshPrice(late, [tokenAccountOf(deposit.address, deposit.token.address)], fees, {
            signal,
          });
          const cost = feeOf(fees.unitsUsual, price, signers) - tokenAccountRent;
          parts.push({ token: deposit.token, deposits: [deposit], gas: null, cost });
        }
      }
      return { parts, left };
    },
  };
}

function saltIn({ salt }: Deposit): string {
  assert(typeof salt === 'string', 'a deposit on Solana has a salt');
  return salt;
}

/**
 * Returns why an account must not be closed: readable transactions must explain all its receipts, and its payment must have recorded them
 * up to its maximum.
 */
async function problemIn(node: SolanaNode, payment: Payment, owner: string, token: Token): Promise<string | undefined> {
  const account = tokenAccountOf(owner, token.address);
  const { slot, accounts } = await accountsOf(node, [account], { commitment: 'finalized' });
  const found = tokenAccountIn(accounts[0]);
  if (found && !found.usable) return 'its account is frozen by the issuer';
  const held = { owner, account, amount: found?.amount ?? 0n, slot };
  const history = await readHistory(node, held, unread, { commitment: 'finalized', minContextSlot: slot });
  const confirmed = new Set(payment.payins.filter(({ phase }) => phase === 'confirmed').map(({ id }) => id));
  const known = history.credits.every(({ credit, transaction: { signature: txHash } }) => {
    const { index, from, token: of, amount: units } = credit;
    const transfer = { chainId: solanaChainId, txHash, index, from, token: of, amount: units.toString() } as const;
    return confirmed.has(transferId(transfer)) || !takesUp(payment, transfer);
  });
  const all = known && history.explained && history.unreadable.length === 0;
  return all ? undefined : unrecorded;
}
