/**
 * Burns and mints of CCTP before their signature.
 *
 * A burn has no nonce that a second one could not use. Instead each attempt of one rebalance creates the same account for its message, and
 * the program refuses a burn whose account exists: so at most one attempt lands, whatever a node said about the earlier ones.
 */
import { assert } from '../../../../domain/decider.ts';
import { parseBurnMessage } from '../../../../domain/rebalance/burnMessage.ts';
import { checkCoin, checkFloat } from '../../money/spending.ts';
import { wholeTokens } from '../../node/agreement.ts';
import { PayoutBlocked, type TransferOrder, type Unsigned } from '../../ports.ts';
import { solanaSignature_bytes } from '../addresses.ts';
import { cctpAccounts, eventRent, feeAccountIn, mintUnits, nonceRent, usedNonce } from '../cctp.ts';
import { type SolanaConfig, solanaChainId } from '../config.ts';
import { accountsOf, latestBlockhash, type RawAccount, type ReadContext } from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';
import type { CheckUnpaid } from './fate.ts';
import { feeOf, freshPrice, rehearse, spendableIn, spendableLamports, unsignedOf } from './preflight.ts';
import { burnMessage, mintMessage, type TransactionTerms, transaction_bytesMax } from './transaction.ts';

export interface RebalancingDeps {
  readonly rpc: SolanaRpc;
  readonly config: Pick<SolanaConfig, 'treasury' | 'fees'>;
  readonly checkUnpaid: CheckUnpaid;
  /** Account of the message of a burn with this reference; null on an instance that prepares nothing. */
  readonly eventAccountOf: ((reference: string) => string) | null;
}

export type PrepareRebalance = (node: SolanaNode, order: TransferOrder) => Promise<Unsigned>;

/** Margin over the simulation. */
const unitsMargin = 30_000;
/** The treasury, and the account of the message. */
const burnSigners = 2;

export const isRebalance = ({ form }: TransferOrder): boolean => form?.kind === 'burn' || form?.kind === 'mint';

/** @returns a function that throws PayoutBlocked, RpcFailed, ChainUnavailable */
export function createRebalancing({ rpc, config, checkUnpaid, eventAccountOf }: RebalancingDeps): PrepareRebalance {
  const { treasury: account, fees } = config;

  async function burn(node: SolanaNode, order: TransferOrder): Promise<Unsigned> {
    const { reference, earlier = [], token } = order;
    assert(reference !== undefined && eventAccountOf !== null, 'burns are prepared where the seed is');
    const eventAccount = eventAccountOf(reference);
    const source = tokenAccountOf(account, token.address);
    const asked = [account, source, eventAccount];
    const { slot, accounts } = await accountsOf(node, asked, { commitment: 'confirmed' });
    const [wallet, float, sent] = accounts;
    if (sent && sent.data.length > 0)
      throw new PayoutBlocked(
        'treasuryBehindChain',
        `${eventAccount} on Solana holds the message of a burn for ${reference}, and the log knows of none that landed: sign nothing until an operator has looked at it`,
      );
    checkFloat(spendableIn(float), account, order);
    const usd = wholeTokens({ ...order, amount: `${order.amount}` });
    await checkUnpaid(rpc, { reference: eventAccount, isSecret: false, earlier, mint: token.address, usd });
    const price_microLamports = await freshPrice(rpc, [source], fees, { attemptsBefore: earlier.length });
    const asOf: ReadContext = { commitment: 'confirmed', minContextSlot: slot };
    const { slot: newest, blockhash, lastValidBlockHeight } = await latestBlockhash(node, asOf);
    const terms: TransactionTerms = { blockhash, units: fees.unitsMax, price_microLamports };
    const rent = eventRent(order);
    checkLamports(wallet, feeOf(fees.unitsMax, price_microLamports, burnSigners) + rent);
    const rehearsed = burnMessage(account, order, eventAccount, terms);
    const used = await rehearse(node, rehearsed, burnSigners, { ...asOf, minContextSlot: newest });
    const units = Math.min(used + unitsMargin, fees.unitsMax);
    return unsignedOf({
      ...{ account, order, message: burnMessage(account, order, eventAccount, { ...terms, units }) },
      ...{ lastValidBlockHeight, units, price_microLamports, signers: burnSigners, rent },
    });
  }

  async function mint(node: SolanaNode, order: TransferOrder): Promise<Unsigned> {
    const { form, token } = order;
    assert(form?.kind === 'mint', 'only a mint mints');
    const message = parseBurnMessage(form.message);
    if (!message) throw new PayoutBlocked('refusedByToken', 'the attested message is none of CCTP version 2');
    const own = tokenAccountOf(account, token.address);
    const asked = [account, own, cctpAccounts().tokenMessenger, usedNonce(message.nonce)];
    const { slot, accounts } = await accountsOf(node, asked, { commitment: 'confirmed' });
    const [wallet, held, state, used] = accounts;
    if (used && used.data.length > 0)
      throw new PayoutBlocked('refusedByToken', `somebody minted message 0x${message.nonce} on Solana already`);
    if (!tokenAccountIn(held)?.usable)
      throw new PayoutBlocked(
        'refusedByToken',
        `the treasury’s token account ${own} on Solana is missing or frozen: send it some ${token.symbol} first, which opens it`,
      );
    checkLamports(wallet, feeOf(mintUnits, 0n, 1) + nonceRent);
    const asOf: ReadContext = { commitment: 'confirmed', minContextSlot: slot };
    const { slot: newest, blockhash, lastValidBlockHeight } = await latestBlockhash(node, asOf);
    const feeAccount = feeAccountIn(state);
    const bytes = mintMessage(account, order, feeAccount, { blockhash });
    const length = 1 + solanaSignature_bytes + bytes.length;
    if (length > transaction_bytesMax)
      throw new PayoutBlocked(
        'refusedByToken',
        `the mint has ${length} bytes, Solana accepts at most ${transaction_bytesMax}: submit the recorded message by hand`,
      );
    await rehearse(node, bytes, 1, { ...asOf, minContextSlot: newest });
    return unsignedOf({
      ...{ account, order, message: bytes, feeAccount, lastValidBlockHeight },
      ...{ units: mintUnits, price_microLamports: 0n, signers: 1, rent: nonceRent },
    });
  }

  const checkLamports = (wallet: RawAccount | null | undefined, most: bigint): void =>
    checkCoin(spendableLamports(wallet), account, { chainId: solanaChainId, unit: 'lamports', most });

  return (node, order) => (order.form?.kind === 'burn' ? burn(node, order) : mint(node, order));
}
