/** A sweep of one deposit, built to be signed: everything that it holds goes to the treasury, with its rent, or nothing does. */
import { assert } from '../../../../domain/decider.ts';
import { formatAmount } from '../../../../domain/money.ts';
import { checkCoin } from '../../money/spending.ts';
import { PayoutBlocked, type TransferOrder, type Unsigned } from '../../ports.ts';
import { type SolanaConfig, solanaChainId } from '../config.ts';
import { type AsOf, accountsOf, latestBlockhash } from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';
import { feeOf, freshPrice, rehearse, spendableLamports } from './preflight.ts';
import { type SolanaPayload, sweepMessage, type Terms } from './transaction.ts';

const unitsMargin = 5_000;
/** The treasury and the deposit's owner sign. */
const signers = 2;

/**
 * The order names to the last digit what the deposit held when its payment was looked at: where it holds anything else by now, something
 * came that nobody has looked at, and what comes later still makes the transaction fail as a whole.
 * @throws PayoutBlocked
 */
export async function buildFlush(
  node: SolanaNode,
  rpc: SolanaRpc,
  { treasury, fees }: Pick<SolanaConfig, 'treasury' | 'fees'>,
  order: TransferOrder,
): Promise<Unsigned> {
  const { token, amount, form } = order;
  const [deposit, ...others] = form?.kind === 'flush' ? form.deposits : [];
  assert(deposit !== undefined && others.length === 0, 'a sweep on Solana takes one deposit');
  const { address: owner, salt } = deposit;
  const account = tokenAccountOf(owner, token.address);
  const { slot, accounts } = await accountsOf(node, [treasury, account], { commitment: 'finalized' });
  const [wallet, found] = accounts;
  checkHeld(tokenAccountIn(found)?.amount, order);

  const price_microLamports = await freshPrice(rpc, [account], fees);
  const asOf: AsOf = { commitment: 'confirmed', minContextSlot: slot };
  const { slot: newest, blockhash, lastValidBlockHeight } = await latestBlockhash(node, asOf);
  const terms: Terms = { blockhash, units: fees.unitsMax, price_microLamports };
  const deposited = { owner, token, amount };
  const rehearsed = sweepMessage(treasury, deposited, terms);
  const used = await rehearse(node, rehearsed, signers, { ...asOf, minContextSlot: newest });
  const units = Math.min(used + unitsMargin, fees.unitsMax);
  const fee = feeOf(units, price_microLamports, signers);
  checkCoin(spendableLamports(wallet), treasury, { chainId: solanaChainId, unit: 'lamports', most: fee });
  const message = sweepMessage(treasury, deposited, { ...terms, units });
  const payload: SolanaPayload = { message: Buffer.from(message).toString('base64'), salt };
  return {
    chainId: solanaChainId,
    account: treasury,
    nonce: null,
    order,
    validUntil: lastValidBlockHeight.toString(),
    fee: { maxFee: fee.toString(), units: String(units), price_microLamports: price_microLamports.toString() },
    payload,
  };
}

function checkHeld(held: bigint | undefined, { token, amount }: TransferOrder): void {
  if (held === amount) return;
  const holds = held === undefined ? 'is closed' : `holds ${formatAmount(held, token.decimals)} ${token.symbol}`;
  const message = `the deposit ${holds} by now, ${formatAmount(amount, token.decimals)} were to be taken`;
  throw new PayoutBlocked('refusedByToken', message);
}
