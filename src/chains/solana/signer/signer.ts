/** The treasury's key on Solana. It signs only bytes that it has built itself from the order, and that move the order's own token. */
import { base58 } from '@scure/base';
import { type ChainFamily, chainOf } from '../../../../domain/chains.ts';
import { coinOf } from '../../../../domain/money.ts';
import { objectionToMessage, parseBurnMessage } from '../../../../domain/rebalance/burnMessage.ts';
import {
  burnableOn,
  burnTokenOn,
  type CctpChainId,
  chainOfDomain,
  contractsOn,
  domainOf,
  feeLimit,
  finalities,
  solanaCctp,
} from '../../../../domain/rebalance/cctp.ts';
import { moneyLeaves } from '../../../../domain/transfer/shapes.ts';
import type { CheckSpending } from '../../money/spending.ts';
import {
  type PayerTransactionOrder,
  type Signer,
  type SigningPurpose,
  SigningRefused,
  type TransferOrder,
  type Unsigned,
} from '../../ports.ts';
import { isAddress } from '../addresses.ts';
import { eventRent, nonceRent } from '../cctp.ts';
import { type SolanaFees, solanaChain, solanaChainId, tokenAccountRent } from '../config.ts';
import {
  isAffordable,
  isPayerTransaction,
  isSignedByPayer,
  type PayerTransaction,
  payerTransactionOf,
  payerTransactionSigners,
} from '../payerTransaction.ts';
import { feeOf } from '../payouts/preflight.ts';
import {
  burnMessage,
  coinMessage,
  createPayoutReference,
  mintMessage,
  openingMessage,
  type SolanaPayload,
  sweepMessage,
  type TransactionTerms,
  termsInMessage,
  transferMessage,
  wireOf,
} from '../payouts/transaction.ts';
import { tokenAccountOf, tokenProgram, transferLayout } from '../tokenProgram.ts';
import { SystemProgram, TransactionMessage, VersionedMessage } from '../web3.ts';
import { eventKey, ownerKey, referenceKey, type SolanaKey } from './keys.ts';

/**
 * True if a message moves exactly the order's amount of its token between the accounts of two wallets, and no other token. Reads the
 * movements from the message's bytes, independently of the code that builds messages.
 * @param from wallet that pays
 */
function movesOrdered(message: Uint8Array, { token, receiver, amount }: TransferOrder, from: string): boolean {
  const [moved, ...others] = transfersIn(message);
  return (
    moved !== undefined &&
    others.length === 0 &&
    moved.mint === token.address &&
    moved.decimals === token.decimals &&
    moved.amount === amount &&
    moved.authority === from &&
    moved.source === tokenAccountOf(from, token.address) &&
    moved.destination === tokenAccountOf(receiver, token.address)
  );
}

/** True if a message moves the order's lamports between two wallets, and no other coin and no token. @param from wallet that pays */
export function paysOrdered(message: Uint8Array, { receiver, amount }: TransferOrder, from: string): boolean {
  const { instructions } = TransactionMessage.decompile(VersionedMessage.deserialize(message));
  const [moved, ...others] = instructions.filter(({ programId }) => programId.equals(SystemProgram.programId));
  if (!moved || others.length > 0 || transfersIn(message).length > 0) return false;
  const isTransfer =
    moved.data.length === coinLayout.bytes && Buffer.from(moved.data).readUInt32LE(0) === coinLayout.tag;
  const [source, destination] = moved.keys.map(({ pubkey }) => pubkey.toBase58());
  return (
    isTransfer &&
    source === from &&
    destination === receiver &&
    Buffer.from(moved.data).readBigUInt64LE(coinLayout.amount) === amount
  );
}

/** Layout of the system program's `Transfer`. */
const coinLayout = { tag: 2, amount: 4, bytes: 12 };

/** A transfer between token accounts, read from a message. */
export interface TokenTransfer {
  readonly source: string | undefined;
  readonly mint: string | undefined;
  readonly destination: string | undefined;
  readonly authority: string | undefined;
  readonly amount: bigint;
  readonly decimals: number | undefined;
}

/** @throws Error if the bytes are no message, or one with a lookup table */
export function transfersIn(message: Uint8Array): readonly TokenTransfer[] {
  const { instructions } = TransactionMessage.decompile(VersionedMessage.deserialize(message));
  return instructions.flatMap(({ programId, keys, data }) => {
    const isTransfer = data[0] === transferLayout.tag && data.length === transferLayout.bytes;
    if (programId.toBase58() !== tokenProgram || !isTransfer) return [];
    const [source, mint, destination, authority] = keys.map(({ pubkey }) => pubkey.toBase58());
    const amount = Buffer.from(data).readBigUInt64LE(transferLayout.amount);
    return [{ source, mint, destination, authority, amount, decimals: data[transferLayout.decimals] }];
  });
}

export interface SolanaSignerDeps {
  readonly key: SolanaKey;
  /** 64 hexadecimal digits; the keys of deposits' owners and the references of payouts are derived from it. */
  readonly depositSeed: string;
  readonly fees: SolanaFees;
  readonly spending: CheckSpending;
  /** The treasury's account of another family, by this signer's own configuration. Default: none, so nothing is burned or minted. */
  readonly accountOf?: (family: ChainFamily) => string | undefined;
}

interface Examined {
  readonly message: Uint8Array;
  /** In the order of the message's accounts. */
  readonly keys: readonly SolanaKey[];
  readonly count: () => void;
}

/**
 * Signs treasury transactions on Solana: transfers within the limits, sweeps of our deposits to the treasury, and burns and mints between its
 * own accounts; nothing else. A signature is worthless after 150 blocks, because it covers a blockhash. Signing again gives the same bytes.
 */
export function createSolanaSigner({ key, depositSeed, fees, spending, accountOf }: SolanaSignerDeps): Signer {
  const { address: account } = key;
  const secret = referenceKey(depositSeed);
  const referenceOf = createPayoutReference(secret);
  const ownOn = (chainId: CctpChainId) => accountOf?.(chainOf(chainId).family);

  /** Burns USDC for the treasury's own account on another chain: where everybody may mint, and nobody else receives. */
  function checkBurn(order: TransferOrder, purpose: SigningPurpose): void {
    const { form, amount, receiver, receiverMemo } = order;
    if (form?.kind !== 'burn') throw mismatch(purpose);
    const destination = chainOfDomain(form.destinationDomain);
    const isOwn =
      destination !== undefined &&
      destination !== solanaChainId &&
      form.mintRecipient === ownOn(destination) &&
      finalities.some((each) => each === form.finality) &&
      isUsdc(order) &&
      amount > 0n &&
      receiver === solanaCctp.minter &&
      receiverMemo === null;
    if (!isOwn) throw mismatch(purpose);
    const feeMax = BigInt(form.feeMax);
    if (feeMax < 0n || feeMax >= amount || feeMax > feeLimit(amount))
      throw new SigningRefused('fee', `a burn’s fee limit of ${feeMax} is above ${feeLimit(amount)}`);
  }

  /** Mints for a burn by the treasury's own account on another chain, to this account's own token account; no other message. */
  function checkMint(order: TransferOrder, purpose: SigningPurpose): void {
    const { form, amount, receiver, receiverMemo } = order;
    const message = form?.kind === 'mint' ? parseBurnMessage(form.message) : undefined;
    const source = chainOfDomain(message?.sourceDomain);
    const burnToken = source && burnTokenOn(source);
    const sender = source && ownOn(source);
    const isOwn =
      form?.kind === 'mint' &&
      message !== undefined &&
      source !== undefined &&
      source !== solanaChainId &&
      burnToken !== undefined &&
      sender !== undefined &&
      objectionToMessage(form.message, {
        ...{ sourceDomain: message.sourceDomain, destinationDomain: domainOf(solanaChainId), burnToken, sender },
        ...{ messenger: contractsOn(source).messenger, receiver: account, amount: message.amount },
        ...{ feeMax: message.feeMax, finality: message.minFinality },
      }) === undefined &&
      isUsdc(order) &&
      amount === message.amount - message.feeExecuted &&
      receiver === account &&
      receiverMemo === null;
    if (!isOwn) throw mismatch(purpose);
  }

  function examineBurn(unsigned: Unsigned, purpose: SigningPurpose, message: Uint8Array, terms: TransactionTerms) {
    checkFee(terms, fees);
    const { order } = unsigned;
    checkBurn(order, purpose);
    const event = eventKey(secret, purpose.reference);
    if (!same(message, burnMessage(account, order, event.address, terms))) throw mismatch(purpose);
    return { message, keys: [key, event], count: spending(unsigned, purpose, networkFee(terms, 2) + eventRent(order)) };
  }

  /** Any fee account is accepted: with another one than the protocol's the mint fails on the chain. */
  function examineMint(unsigned: Unsigned, purpose: SigningPurpose, message: Uint8Array, terms: TransactionTerms) {
    const { order, payload } = unsigned;
    checkMint(order, purpose);
    const { feeAccount = '' } = payload as SolanaPayload;
    if (!isAddress(feeAccount) || !same(message, mintMessage(account, order, feeAccount, terms)))
      throw mismatch(purpose);
    return { message, keys: [key], count: spending(unsigned, purpose, networkFee(terms, 1) + nonceRent) };
  }

  function examine(unsigned: Unsigned, purpose: SigningPurpose): Examined {
    checkSolanaFrame(unsigned, account);
    const { message: base64, salt } = unsigned.payload as SolanaPayload;
    const message = new Uint8Array(Buffer.from(base64, 'base64'));
    const terms = termsInMessage(message);
    if (!terms) throw mismatch(purpose);
    if (purpose.kind === 'burn') return examineBurn(unsigned, purpose, message, terms);
    if (purpose.kind === 'mint') return examineMint(unsigned, purpose, message, terms);
    checkFee(terms, fees);
    const { order } = unsigned;
    const reference = () => referenceOf({ ...order, reference: purpose.reference });
    if (purpose.kind === 'withdrawal' && order.form?.kind === 'coin') {
      checkCoin(order, purpose);
      if (!paysOrdered(message, order, account)) throw mismatch(purpose);
      if (!same(message, coinMessage(account, order, reference(), terms))) throw mismatch(purpose);
      return { message, keys: [key], count: spending(unsigned, purpose, networkFee(terms, 1)) };
    }
    checkToken(order, purpose);

    if (purpose.kind === 'sweep') {
      const [deposit, ...others] = order.form?.kind === 'flush' ? order.form.deposits : [];
      const named = deposit !== undefined && others.length === 0 && deposit.salt === salt;
      if (salt === undefined || !named || order.receiver !== account) throw mismatch(purpose);
      const owner = ownerKey(depositSeed, salt);
      if (owner.address !== deposit.address || !movesOrdered(message, order, owner.address)) throw mismatch(purpose);
      if (!same(message, sweepMessage(account, { ...order, owner: owner.address }, terms))) throw mismatch(purpose);
      return { message, keys: [key, owner], count: spending(unsigned, purpose, networkFee(terms, 2)) };
    }
    const isTransfer = moneyLeaves(purpose.kind) && order.form === undefined;
    if (!isTransfer || order.amount <= 0n) throw mismatch(purpose);
    if (!movesOrdered(message, order, account)) throw mismatch(purpose);
    const wanted = transferMessage(account, order, reference(), terms);
    if (!same(message, wanted)) throw mismatch(purpose);
    const rent = order.opensAccount === false ? 0n : tokenAccountRent;
    return { message, keys: [key], count: spending(unsigned, purpose, networkFee(terms, 1) + rent) };
  }

  return {
    account,
    check: (unsigned, purpose) => void examine(unsigned, purpose),
    async sign(unsigned, purpose) {
      const { message, keys, count } = examine(unsigned, purpose);
      count();
      const signatures = keys.map((each) => each.sign(message));
      // The first one is the transaction's identity.
      const hash = base58.encode(signatures[0] ?? new Uint8Array());
      return { bytes: wireOf(message, signatures), hash };
    },
  };
}

function checkSolanaFrame({ chainId, order, account, nonce }: Unsigned, own: string): void {
  if (chainId !== solanaChainId || order.chainId !== solanaChainId) {
    throw new SigningRefused('chain', `this key does not sign for chain ${chainId} (order: ${order.chainId})`);
  }
  if (account !== own || nonce !== null) {
    throw new SigningRefused('account', `this key signs for ${own} and without a nonce, not for ${account}`);
  }
}

const networkFee = ({ units, price_microLamports }: TransactionTerms, signatures: number): bigint =>
  feeOf(units, price_microLamports, signatures);

function checkFee(
  { units, price_microLamports }: TransactionTerms,
  { unitsMax, priceMax_microLamports }: SolanaFees,
): void {
  if (units <= unitsMax && price_microLamports <= priceMax_microLamports) return;
  const message = `${units} compute units at ${price_microLamports} microlamports are above the limits of ${unitsMax} at ${priceMax_microLamports}`;
  throw new SigningRefused('fee', message);
}

/** Coin leaves only by withdrawals. */
function checkCoin({ token, amount }: TransferOrder, purpose: SigningPurpose): void {
  const coin = coinOf(solanaChainId);
  if (token.address !== coin.address || token.decimals !== coin.decimals || amount <= 0n) throw mismatch(purpose);
}

function checkToken({ token }: TransferOrder, purpose: SigningPurpose): void {
  const known = solanaChain().tokens.some(
    ({ address, decimals }) => address === token.address && decimals === token.decimals,
  );
  if (!known) throw mismatch(purpose);
}

function isUsdc({ token: { address, decimals } }: TransferOrder): boolean {
  const listed = burnableOn(solanaChainId);
  return listed?.address === address && listed.decimals === decimals;
}

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

const mismatch = ({ kind, reference }: SigningPurpose): SigningRefused =>
  new SigningRefused('mismatch', `the transaction is not the one that ${kind} ${reference} orders`);

// The relay account's key on Solana. It pays the fees of payers' transactions, opens deposits' token accounts, and
// moves nothing of ours.

export interface SolanaRelaySignerDeps {
  readonly key: SolanaKey;
  /** Derives a deposit's address from its salt, which proves that the deposit is ours. @throws Unavailable without an answer of the signer */
  readonly depositAt: (salt: string) => Promise<string>;
  readonly treasury: string;
  readonly fees: SolanaFees;
  readonly spending: CheckSpending;
}

interface ExaminedRelay {
  readonly message: Uint8Array;
  /** Signatures after our own. */
  readonly others: readonly Uint8Array[];
  readonly count: () => void;
}

/**
 * Signs as the fee payer alone a transaction that moves the ordered amount of a catalogue token from its payer to a deposit of ours, and
 * transactions that open the token account of this deposit; nothing else. Signing again gives the same bytes.
 */
export function createSolanaRelaySigner({ key, depositAt, treasury, fees, spending }: SolanaRelaySignerDeps): Signer {
  const account = key.address;

  async function examine(unsigned: Unsigned, purpose: SigningPurpose): Promise<ExaminedRelay> {
    const { order } = unsigned;
    checkSolanaFrame(unsigned, account);
    if (purpose.kind !== 'relay')
      throw new SigningRefused('mismatch', `the relay account makes no ${purpose.kind}: it relays`);
    const sent = isPayerTransaction(order) ? payerTransactionOf(order.form.signature) : null;
    if (!sent || !isPayerTransaction(order) || !isOrdered(sent, order)) throw relayMismatch();
    if (!(await isOwnDeposit(order, depositAt))) throw relayMismatch();
    const message = Buffer.from((unsigned.payload as SolanaPayload).message, 'base64');
    if (Buffer.compare(message, sent.message) === 0) {
      const fee = feeOf(sent.terms.units, sent.terms.price_microLamports, payerTransactionSigners);
      return { message, others: [sent.signature], count: spending(unsigned, purpose, fee) };
    }
    const terms = termsInMessage(message);
    if (!terms || Buffer.compare(message, openingMessage(account, order, terms)) !== 0) throw relayMismatch();
    checkFee(terms, fees);
    const cost = feeOf(terms.units, terms.price_microLamports, 1) + tokenAccountRent;
    return { message, others: [], count: spending(unsigned, purpose, cost) };
  }

  const isOrdered = (sent: PayerTransaction, order: PayerTransactionOrder): boolean =>
    isCatalogueToken(order) &&
    order.amount > 0n &&
    order.receiverMemo === null &&
    sent.payer === order.form.payer &&
    ![account, treasury].includes(sent.payer) &&
    isAffordable(sent, account, fees) &&
    movesOrdered(sent.message, order, order.form.payer) &&
    // A transaction that the payer did not sign would be refused, and the opened account would keep its rent.
    isSignedByPayer(sent);

  return {
    account,
    check: async (unsigned, purpose) => void (await examine(unsigned, purpose)),
    async sign(unsigned, purpose) {
      const { message, others, count } = await examine(unsigned, purpose);
      count();
      const own = key.sign(message);
      return { bytes: wireOf(message, [own, ...others]), hash: base58.encode(own) };
    },
  };
}

const isCatalogueToken = ({ token }: TransferOrder): boolean =>
  solanaChain().tokens.some(({ address, decimals }) => address === token.address && decimals === token.decimals);

async function isOwnDeposit(
  { receiver, form: { deposit } }: PayerTransactionOrder,
  depositAt: SolanaRelaySignerDeps['depositAt'],
): Promise<boolean> {
  const { address, salt } = deposit;
  return receiver === address && /^[0-9a-f]{64}$/.test(salt) && (await depositAt(salt)) === address;
}

const relayMismatch = (): SigningRefused =>
  new SigningRefused(
    'mismatch',
    'a relay completes one transfer of a catalogue token, signed by its payer, to a deposit of ours, or opens the token account of this deposit',
  );
