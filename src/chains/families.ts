import type { WalletOffer } from '../../commands/payerTransactions.ts';
import { type Chain, type ChainFamily, chainOf } from '../../domain/chains.ts';
import type { Deposit } from '../../domain/payment/shapes.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Reader } from '../environment/reader.ts';
import { evm } from './evm/index.ts';
import type { Family } from './family.ts';
import type { AddressBook } from './ports.ts';
import { solana } from './solana/index.ts';
import { stellar } from './stellar/index.ts';

/** Every chain family; the only list of them. */
export const families = { evm, solana, stellar } as const satisfies Readonly<Record<ChainFamily, Family>>;

export const allFamilies: readonly Family[] = Object.values(families);

export const familyFor = ({ family }: Pick<Chain, 'family'>): Family => families[family];

/** Addresses of every chain family, in their chains' spelling. */
export const familyAddresses: AddressBook = {
  canonical: (chain, text) => familyFor(chain).canonicalAddress(chain, text),
};

/** A transaction hash in its chain's spelling, or null for any other text. */
export const canonicalTxHash = (chain: Chain, text: string): string | null => familyFor(chain).canonicalTxHash(text);

/**
 * Payment link in the format of its chain; null for a payment that has none.
 * @param amount in whole tokens; null leaves it to the payer
 * @param sandbox true if the chains are simulated
 */
export const walletLinkOf = (payment: PaymentView, amount: string | null, sandbox = false): string | null =>
  familyFor(chainOf(payment.sourceChainId)).walletLink?.(payment, amount, sandbox) ?? null;

/**
 * Facts that a wallet in the payer's browser needs to pay by one press; null for a payment that it cannot pay.
 * @param amount in whole tokens; null leaves it to the payer, and makes no offer
 * @param localRpcUrls RPC URLs of a simulated chain; null for a real one
 */
export const walletOfferOf = (
  payment: PaymentView,
  amount: string | null,
  localRpcUrls: readonly string[] | null = null,
): WalletOffer | null =>
  amount === null
    ? null
    : (familyFor(chainOf(payment.sourceChainId)).walletOffer?.(payment, amount, localRpcUrls) ?? null);

/** Accounts that pay out. Null for a family without a served chain. */
export type Treasuries = { readonly [F in ChainFamily]: ReturnType<(typeof families)[F]['readTreasury']> };

/** A family needs its treasury once one of its chains is served. */
export function readTreasuries(read: Reader, served: ReadonlySet<ChainFamily>, production: boolean): Treasuries {
  const treasuries = allFamilies.map((family) => [
    family.name,
    served.has(family.name) ? family.readTreasury(read, production) : null,
  ]);
  return Object.fromEntries(treasuries) as Treasuries;
}

/** True if the derivation binds a deposit of the family to one payment. */
export const derivesDepositFromPayment = (family: ChainFamily): boolean => families[family].derivesDepositFromPayment;

/** True if a payment's deposit is derived like these treasuries' deposits. False for a family that is not served. */
export const ownDepositsOf =
  (treasuries: Treasuries) =>
  async (family: ChainFamily, paymentId: string, deposit: Deposit): Promise<boolean> => {
    const treasury = treasuries[family];
    return treasury !== null && (await families[family].isOwnDeposit(treasury as never, paymentId, deposit));
  };
