/** Checks and price before a signature: a transfer is better refused here than failed on the chain. */

import type { Token } from '../../../../domain/chains.ts';
import { type Refusal, refuse } from '../../../../domain/decider.ts';
import { higher, lower } from '../../../lib/concurrency.ts';
import { type CheckedReceiver, ownMemo } from '../../money/receiverCheck.ts';
import type { ChainNode } from '../../node/jsonRpc.ts';
import type { ChainRpc } from '../../node/nodes.ts';
import { PayoutBlocked, type TransferOrder, type Unsigned } from '../../ports.ts';
import { isOnCurve, solanaSignature_bytes, systemProgram } from '../addresses.ts';
import { type SolanaFees, signatureFee, solanaChainId, walletRent } from '../config.ts';
import { simulate } from '../landed.ts';
import { accountsOf, type RawAccount, type ReadContext, recentPrices } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';
import { type SolanaPayload, type TransactionTerms, wireOf } from './transaction.ts';

/** Spendable amount of a token account, in smallest units. */
export function spendableIn(account: RawAccount | null | undefined): bigint {
  const held = tokenAccountIn(account);
  return held?.usable ? held.amount : 0n;
}

/** Lamports above a wallet's minimum. */
export const spendableLamports = (wallet: RawAccount | null | undefined): bigint =>
  wallet && wallet.lamports > walletRent ? wallet.lamports - walletRent : 0n;

/** In three of four recent slots, transactions on these accounts offered at most this. */
const percentile = 0.75;
/** Factor of the offer per dead attempt. */
const rise = 4n;
const risesMax = 16;

interface Asking {
  /** Earlier attempts of the same transfer, none of which landed. */
  readonly attemptsBefore?: number;
  readonly signal?: AbortSignal;
}

/**
 * Current price per compute unit, within the configured bounds. Of two nodes the lower answer counts, of three the median: no node can
 * raise it alone.
 * @param accounts that the transaction writes to
 * @throws ChainUnavailable
 */
export async function freshPrice(
  rpc: ChainRpc,
  accounts: readonly string[],
  { priceMin_microLamports: least, priceMax_microLamports: most }: SolanaFees,
  { attemptsBefore = 0, signal }: Asking = {},
): Promise<bigint> {
  const told = await rpc.all(async (node) => usualOf(await recentPrices(node, accounts)), signal);
  const usual = inOrder(told)[Math.floor((told.length - 1) / 2)] ?? 0n;
  return lower(higher(usual, least) * rise ** BigInt(Math.min(attemptsBefore, risesMax)), most);
}

const usualOf = (prices: readonly bigint[]): bigint => inOrder(prices)[Math.floor(prices.length * percentile)] ?? 0n;

const inOrder = (prices: readonly bigint[]): readonly bigint[] =>
  prices.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));

const microLamports = 1_000_000n;

/** Maximum cost of a transaction in lamports, without rent. */
export const feeOf = (units: number, price_microLamports: bigint, signatures: number): bigint =>
  signatureFee * BigInt(signatures) + (BigInt(units) * price_microLamports + microLamports - 1n) / microLamports;

interface Prepared extends Omit<TransactionTerms, 'blockhash'> {
  /** Pays the fee. */
  readonly account: string;
  readonly order: TransferOrder;
  readonly message: Uint8Array;
  /** Last block height that accepts the message. */
  readonly lastValidBlockHeight: bigint;
  readonly signers: number;
  /** For an account that the transaction opens, in lamports. */
  readonly rent?: bigint;
  /** For a sweep: salt of the deposit's key. */
  readonly salt?: string;
  /** For a mint: token account that receives Circle's fee. */
  readonly feeAccount?: string;
}

/** A transaction that waits for its signatures: its blockhash replaces a number. */
export function unsignedOf(prepared: Prepared): Unsigned {
  const {
    account,
    order,
    message,
    lastValidBlockHeight,
    units,
    price_microLamports,
    signers,
    rent = 0n,
    salt,
    feeAccount,
  } = prepared;
  const payload: SolanaPayload = {
    message: Buffer.from(message).toString('base64'),
    ...(salt !== undefined && { salt }),
    ...(feeAccount !== undefined && { feeAccount }),
  };
  return {
    ...{ chainId: solanaChainId, account, nonce: null, order },
    validUntil: lastValidBlockHeight.toString(),
    fee: {
      maxFee: feeOf(units, price_microLamports, signers).toString(),
      units: String(units),
      price_microLamports: price_microLamports.toString(),
      ...(rent > 0n && { rent: rent.toString() }),
    },
    payload,
  };
}

/**
 * Simulates a message.
 * @param signers number of signatures
 * @returns the compute units that it used
 * @throws PayoutBlocked if it would fail
 */
export async function rehearse(
  node: ChainNode,
  message: Uint8Array,
  signers: number,
  asOf: ReadContext,
): Promise<number> {
  const unsigned = wireOf(message, new Array<Uint8Array>(signers).fill(new Uint8Array(solanaSignature_bytes)));
  const { failure, units } = await simulate(node, unsigned, asOf);
  if (failure !== undefined) throw new PayoutBlocked('refusedByToken', `the transfer would fail: ${failure}`);
  return units;
}

/**
 * Returns why a receiver cannot receive a token, and what to do; undefined if it can. Money sent to the wallet of a token account, or of a
 * program's data, is lost: nobody can sign for it. An existing account of the system program is a wallet, even without a key (multisig
 * vaults). An account that does not exist yet is one only if a key can exist for it.
 * @param held its account for the token
 */
export function obstacle(
  receiver: string,
  found: RawAccount | null | undefined,
  held: RawAccount | null | undefined,
): string | undefined {
  if (!found && !isOnCurve(receiver))
    return `${receiver} is not on the curve and nothing is there: if it is a vault, send it some SOL first`;
  if (found?.executable) return `${receiver} is a program: give the address of a wallet`;
  if (tokenAccountIn(found)) return `${receiver} is a token account: give the address of the wallet that owns it`;
  if (found && found.owner !== systemProgram)
    return `${receiver} belongs to the program ${found.owner}: give the address of a wallet`;
  const account = tokenAccountIn(held);
  if (!account) return undefined;
  if (account.owner !== receiver)
    return `the token account of ${receiver} was given to ${account.owner}: use that wallet`;
  return account.usable ? undefined : `the token account of ${receiver} is frozen by the issuer: use another wallet`;
}

/** A payout opens the receiver's token account. A mint for the treasury opens none. @throws RpcFailed */
export async function obstacleTo(
  node: SolanaNode,
  token: Token,
  { address, memo }: CheckedReceiver,
): Promise<Refusal | undefined> {
  const { accounts } = await accountsOf(node, [address, tokenAccountOf(address, token.address)], {
    commitment: 'confirmed',
  });
  const [found, held] = accounts;
  const lacksOwn = memo === ownMemo && !tokenAccountIn(held);
  const why = lacksOwn
    ? `${address} has no token account for ${token.symbol}, and a mint opens none: send it some ${token.symbol} first`
    : obstacle(address, found, held);
  return why === undefined ? undefined : refuse('invalidRequest', why);
}
