/**
 * Moves tokens outside the catalogue from a deposit to the treasury, for an operator. The books do not count such tokens. Another account
 * than the treasury pays the fees, so the log lacks no transaction of the treasury.
 */
import { setTimeout } from 'node:timers/promises';
import { base58 } from '@scure/base';
import type { DepositSweep, RecoveredTokens } from '../../../../commands/sweeps/ports.ts';
import { type SolanaFees, solanaChain } from '../config.ts';
import { signatureStatus } from '../landed.ts';
import { type HeldTokens, heldTokensOf } from '../payins/tokenAccounts.ts';
import { freshPrice, rehearse } from '../payouts/preflight.ts';
import { createBroadcast } from '../payouts/rail.ts';
import { recoveryMessage, type TransactionTerms, wireOf } from '../payouts/transaction.ts';
import { latestBlockhash } from '../reads.ts';
import type { SolanaRpc } from '../rpc.ts';
import { token2022Program, tokenProgram } from '../tokenProgram.ts';
import { ownerKey, parseSolanaKey, type SolanaKey } from './keys.ts';

const unitsMargin = 5_000;
/** The account that pays the fees, and the deposit's owner. */
const signers = 2;
const look_ms = 500;
/** Longer than a blockhash is valid, about 1 minute. */
const looksMax = 360;

export interface RecoveryDeps {
  readonly rpc: SolanaRpc;
  readonly treasury: string;
  readonly fees: SolanaFees;
  /** Null on a machine without the seed. */
  readonly depositSeed: string | null;
}

/**
 * Recovers one token account after the other, and reports each when it is final. Recovered accounts are not found again, so an interrupted
 * recovery can be repeated.
 * @param feePayerKey key as wallets export it, in base58
 * @throws Error with what to do; PayoutBlocked if a transfer would fail
 */
export const createRecovery =
  (deps: RecoveryDeps): NonNullable<DepositSweep['recoverTokens']> =>
  (deposit, feePayerKey, signal) =>
    recoverTokens(deps, deposit, feePayerKey, signal);

async function* recoverTokens(
  { rpc, treasury, fees, depositSeed }: RecoveryDeps,
  { address, salt }: { readonly address: string; readonly salt: string },
  feePayerKey: string,
  signal: AbortSignal,
): AsyncGenerator<RecoveredTokens> {
  const payer = parseSolanaKey(feePayerKey.trim());
  if (!payer) throw new Error('the fee payer’s key is none: name a file with the key as wallets export it, in base58');
  if (payer.address === treasury)
    throw new Error('the treasury must not pay the fees: the log would lack a transaction of it. Name another account');
  if (depositSeed === null)
    throw new Error('SOLANA_DEPOSIT_SEED is missing: run the command where the keys of deposits are configured');
  const owner = ownerKey(depositSeed, salt);
  if (owner.address !== address) throw new Error(`deposit ${address} is not derived from this SOLANA_DEPOSIT_SEED`);
  const broadcast = createBroadcast(rpc);
  const listed = new Set(solanaChain().tokens.map((token) => token.address));
  const found = await rpc.answer(async (node) => {
    const held = await Promise.all(
      [tokenProgram, token2022Program].map((program) =>
        heldTokensOf(node, address, program, { commitment: 'finalized' }),
      ),
    );
    return held.flat().filter(({ token, amount }) => amount > 0n && !listed.has(token));
  }, signal);
  for (const held of found) {
    const { hash, bytes } = await signed(held, payer, owner);
    await landed(hash, bytes);
    yield { token: held.token, amount: held.amount, hash };
  }

  async function signed(held: HeldTokens, payer: SolanaKey, owner: SolanaKey) {
    const price_microLamports = await freshPrice(rpc, [held.account], fees, { signal });
    return rpc.answer(async (node) => {
      const { slot, blockhash } = await latestBlockhash(node, { commitment: 'confirmed' });
      const terms: TransactionTerms = { blockhash, units: fees.unitsMax, price_microLamports };
      const rehearsed = recoveryMessage(payer.address, treasury, held, terms);
      const used = await rehearse(node, rehearsed, signers, { commitment: 'confirmed', minContextSlot: slot });
      const units = Math.min(used + unitsMargin, fees.unitsMax);
      const message = recoveryMessage(payer.address, treasury, held, { ...terms, units });
      const signatures = [payer, owner].map((key) => key.sign(message));
      return { bytes: wireOf(message, signatures), hash: base58.encode(signatures[0] ?? new Uint8Array()) };
    }, signal);
  }

  /** Nodes do not resend: the bytes are sent until they land. */
  async function landed(hash: string, bytes: string): Promise<void> {
    for (let looks = 0; looks < looksMax; looks += 1) {
      const { status } = await rpc.answer((node) => signatureStatus(node, hash), signal);
      if (status?.final && status.error === null) return;
      if (status?.final) throw new Error(`transaction ${hash} failed: ${status.error}. Nothing was moved: try again`);
      if (!status) await broadcast(bytes);
      await setTimeout(look_ms, undefined, { signal });
    }
    throw new Error(`transaction ${hash} is not final yet: look it up, then run the command again`);
  }
}
