/**
 * `rebalance-<id>`, recomputed from its events alone: the burned amount is the sum of the minted amount, the fee and the amount in transit.
 * USDT0 has no fee in tokens, no attestation and no mint of ours: others deliver its message.
 */
import { base58 } from '@scure/base';
import { StrKey } from '@stellar/stellar-sdk';
import { type CctpChainId, routeContracts, solanaCctp, stellarCctp } from '../../../domain/rebalance/cctp.ts';
import { tokenAccount32 } from '../../../domain/rebalance/solanaTokenAccount.ts';
import { counterpartyOn, type Usdt0ChainId, usdt0Route } from '../../../domain/rebalance/usdt0.ts';
import type { Out } from '../claims.ts';
import type { AuditEntry, Reckoner } from '../entry.ts';
import { type FindingCode, findingAt } from '../findings.ts';
import { type AuditedLeg, createLeg, landing } from './legs.ts';

/** Sender of mints in the logs of EVM chains. On Stellar the forwarder sends them, on Solana the owner of the protocol's tokens. */
const nobody = `0x${'0'.repeat(40)}`;
const [stellarId, solanaId] = [1500, 501];
function minting(chainId: number): string {
  if (chainId === solanaId) return solanaCctp.custodian;
  return chainId === stellarId ? stellarCctp.forwarder : nobody;
}
/** Accounts of other families are compared with the history of the treasury's account there. */
const hasOwnAccounts = (chainId: number): boolean => chainId === stellarId || chainId === solanaId;
/** Maximum lamports for the account with a burn's message: (128 + 52 + 376 + 88) bytes at 6,960. Repeated here on purpose. */
const messageRent = '4482240';

/** Account that a delivery of USDT0 pays from; null on Stellar, where a mint names none. */
const arrivingFrom = (chainId: number): string | null =>
  chainId === stellarId ? null : counterpartyOn(chainId as Usdt0ChainId);

/** Offsets of the protocol's message in bytes, repeated here on purpose: the audit does not use the product's reader. */
const at = {
  sourceDomain: [4, 4],
  destinationDomain: [8, 4],
  destinationCaller: [108, 32],
  minFinality: [140, 4],
  burnToken: [152, 32],
  mintRecipient: [184, 32],
  amount: [216, 32],
  messageSender: [248, 32],
  feeMax: [280, 32],
  feeExecuted: [312, 32],
  expirationBlock: [344, 32],
} as const;

const read = (message: string, [offset, length]: readonly [number, number]): bigint =>
  BigInt(`0x${message.slice(2 + 2 * offset, 2 + 2 * (offset + length)) || '0'}`);

const hookOffset = 376;

/** An address as the number that messages have. */
function numberOf(address: string): bigint {
  if (address.startsWith('0x')) return BigInt(address);
  if (address.length < 50) return BigInt(`0x${Buffer.from(base58.decode(address)).toString('hex')}`);
  const bytes = StrKey.isValidContract(address)
    ? StrKey.decodeContract(address)
    : StrKey.decodeEd25519PublicKey(address);
  return BigInt(`0x${bytes.toString('hex')}`);
}

/** Receiver that a message names: on Stellar the forwarder, on Solana the token account. */
function recipientOf({ chainId, account, token }: AuditEntry['data']): bigint {
  if (chainId === solanaId) return BigInt(`0x${tokenAccount32(account, token.address)}`);
  return numberOf(chainId === stellarId ? stellarCctp.forwarder : account);
}

/** Messages have 6 decimals, and so has USDC on each chain but Stellar, where it has 7. */
const toMessage = (units: bigint, chainId: number): bigint => (chainId === stellarId ? units / 10n : units);
const fromMessage = (units: bigint, chainId: number): bigint => (chainId === stellarId ? units * 10n : units);

/** Events that a move of USDT0 cannot have. */
const ofCctp = /^(BurnAttested|AttestationExpired|Mint(Signed|Died|Orphaned|Confirmed|Short))$/;

const isOft = ({ data }: AuditEntry): boolean => data.route.kind === 'oft';

function contractsOf(entry: AuditEntry) {
  const { from, to } = entry.data;
  return isOft(entry)
    ? usdt0Route(from.chainId as Usdt0ChainId, to.chainId as Usdt0ChainId, 0n)
    : routeContracts(from.chainId as CctpChainId, to.chainId as CctpChainId);
}

interface Attestation {
  readonly entry: AuditEntry;
  readonly leg: AuditedLeg;
}

export function createRebalanceReckoner(out: Out): Reckoner {
  const find = (code: FindingCode, entry: AuditEntry, message: string) => out.find(findingAt(code, entry, message));
  const illegal = (entry: AuditEntry, message: string) => find('illegalEvent', entry, message);
  const approvedBy = new Set<string>();
  let ordered: AuditEntry | null = null;
  let burn: AuditedLeg | null = null;
  let calledOff = false;
  let attestation: Attestation | null = null;
  const mints: AuditedLeg[] = [];
  /** Recorded mints by transaction hash. */
  const minted = new Map<
    string,
    { readonly entry: AuditEntry; readonly received: bigint; readonly byOther: boolean }
  >();

  function order(entry: AuditEntry): void {
    if (ordered) illegal(entry, 'it was ordered before');
    ordered = entry;
    const { from, to, route, amount } = entry.data;
    if (!hasOwnAccounts(from.chainId) && !hasOwnAccounts(to.chainId) && from.account !== to.account)
      illegal(entry, `the money leaves ${from.account} for ${to.account}`);
    const { messenger, transmitter, minter } = contractsOf(entry);
    if (route.messenger !== messenger || route.transmitter !== transmitter || route.minter !== minter)
      find(
        'outflowElsewhere',
        entry,
        `its route leads through ${route.messenger} and ${route.minter}, no contracts of ${isOft(entry) ? 'USDT0' : 'CCTP'}`,
      );
    const transfer = { chainId: from.chainId, asset: from.token.address, receiver: route.minter, memo: null };
    const isDeposited = !isOft(entry) && from.chainId === solanaId;
    const along = isOft(entry) ? { coinAlong: route.messageFee } : isDeposited ? { coinAlong: messageRent } : {};
    const namesNobody = from.chainId === (isOft(entry) ? stellarId : solanaId);
    const form = namesNobody ? 'burn' : null;
    const terms = { ...transfer, ...along, amount: BigInt(amount), form, owner: from.account } as const;
    burn = createLeg({ ...terms, purpose: 'moved' }, out);
  }

  function attest(entry: AuditEntry, { data: terms }: AuditEntry): void {
    const { message, feeExecuted } = entry.data;
    if (!burn?.settled()) illegal(entry, 'the burn was not settled before it was attested');
    const isToStellar = terms.to.chainId === stellarId;
    const expected: Readonly<Record<string, bigint>> = {
      sourceDomain: BigInt(terms.route.sourceDomain),
      destinationDomain: BigInt(terms.route.destinationDomain),
      minFinality: BigInt(terms.route.finality),
      burnToken: numberOf(terms.from.chainId === stellarId ? stellarCctp.token : terms.from.token.address),
      mintRecipient: recipientOf(terms.to),
      destinationCaller: isToStellar ? numberOf(stellarCctp.forwarder) : 0n,
      amount: toMessage(BigInt(terms.amount), terms.from.chainId),
      messageSender: numberOf(terms.from.account),
      feeMax: toMessage(BigInt(terms.route.feeMax), terms.from.chainId),
      feeExecuted: toMessage(BigInt(feeExecuted), terms.from.chainId),
      expirationBlock: BigInt(entry.data.expirationBlock),
    };
    for (const [field, value] of Object.entries(expected)) {
      const stated = read(message, at[field as keyof typeof at]);
      if (stated !== value) find('mintForged', entry, `${field} of the message is ${stated}, the order has ${value}`);
    }
    const hook = Buffer.from(message.slice(2 + 2 * hookOffset), 'hex')
      .subarray(32)
      .toString('latin1');
    if (hook !== (isToStellar ? terms.to.account : ''))
      find('mintForged', entry, `the message forwards to ${hook || 'nobody'}, the order names ${terms.to.account}`);
    if (BigInt(feeExecuted) > BigInt(terms.route.feeMax))
      find('transitOpen', entry, `the fee is ${feeExecuted}, at most ${terms.route.feeMax} was ordered`);
    const { chainId, account, token } = terms.to;
    const from = [minting(chainId)];
    const transfer = { chainId, asset: token.address, receiver: account, memo: null, from, owner: account };
    const burned = toMessage(BigInt(terms.amount) - BigInt(feeExecuted), terms.from.chainId);
    const amount = fromMessage(burned, chainId);
    attestation = { entry, leg: createLeg({ ...transfer, amount, form: 'flush', purpose: 'moved' }, out) };
    mints.push(attestation.leg);
  }

  function mint(entry: AuditEntry, kind: string): void {
    if (landing.has(kind) && !attestation) {
      illegal(entry, 'nothing was attested before it');
      return;
    }
    // An attempt may be older than the newest attestation: it belongs to the mint that it was signed for.
    const own = kind === 'Signed' ? attestation?.leg : mints.find((leg) => leg.signed(entry.data.attempt));
    own?.next(kind, kind === 'Confirmed' ? { ...entry, data: { ...entry.data, arrived: entry.data.received } } : entry);
    if (kind === 'Confirmed') arrive(entry, BigInt(entry.data.received), false);
    if (kind === 'Short') arrive(entry, BigInt(entry.data.arrived), false);
    if (kind === 'Orphaned') minted.delete(entry.data.hash);
  }

  function arrive(entry: AuditEntry, received: bigint, byOther: boolean): void {
    minted.set(entry.data.hash, { entry, received, byOther });
    if (minted.size > 1) find('transitOpen', entry, 'one burn was minted twice');
  }

  return {
    next(entry) {
      const { type, data } = entry;
      if (type === 'RebalanceOrdered') return order(entry);
      if (!ordered) return illegal(entry, 'nothing was ordered before it');
      if (type === 'RebalanceApproved') approvedBy.add(data.by);
      else if (type === 'RebalanceCalledOff') {
        if (burn?.mayLand()) illegal(entry, 'its burn has landed, or can still: it cannot be called off');
        calledOff = true;
      } else if (isOft(ordered) && ofCctp.test(type))
        illegal(entry, 'USDT0 has neither attestations nor mints of ours');
      else if (type === 'BurnAttested') attest(entry, ordered);
      else if (type === 'MintedByOther') {
        if (isOft(ordered) && !burn?.settled()) illegal(entry, 'the send was not settled before its message arrived');
        if (!isOft(ordered) && !attestation) illegal(entry, 'nothing was attested before it');
        arrive(entry, BigInt(data.received), true);
      } else if (type === 'MintByOtherOrphaned') minted.delete(data.hash);
      else if (type.startsWith('Mint')) mint(entry, type.slice('Mint'.length));
      else if (type.startsWith('Burn')) {
        const kind = type.slice('Burn'.length);
        if (landing.has(kind) && calledOff) illegal(entry, 'it was called off before');
        if (kind === 'Signed') checkApproved(entry, ordered);
        burn?.next(kind, entry);
      }
    },
    end() {
      burn?.end();
      for (const leg of mints) leg.end();
      if (ordered) settle(ordered);
    },
  };

  function checkApproved(entry: AuditEntry, { data }: AuditEntry): void {
    const others = [...approvedBy].filter((by) => by !== data.by).length;
    if (others < data.approvals)
      find('approvalMissing', entry, `${data.by} ordered it, no other operator approved it before its burn was signed`);
  }

  /** The burned amount equals the minted amount and the fee. The fee is the attested message's, and the chain took no more. */
  function settle(entry: AuditEntry): void {
    const { from, to, amount } = entry.data;
    const burned = burn?.settled() ? BigInt(amount) : 0n;
    const there = [...minted.values()].reduce((sum, { received }) => sum + received, 0n);
    const arrived = fromMessage(toMessage(there, to.chainId), from.chainId);
    const { stream, position } = entry;
    if (minted.size === 0) {
      if (burned > 0n)
        out.unsettled({
          chainId: to.chainId,
          stream,
          position,
          what: `${burned} burned on ${from.chainId} are in transit`,
        });
      return;
    }
    const fee = BigInt(attestation?.entry.data.feeExecuted ?? 0);
    const where = [...minted.values()].at(-1)?.entry ?? entry;
    if (burned !== arrived + fee)
      find('transitOpen', where, `${burned} were burned, ${arrived} minted with a fee of ${fee}: the rest is nowhere`);
    for (const { entry: seen, received, byOther } of minted.values()) if (byOther) claimOf(seen, entry, received);
  }

  function claimOf(seen: AuditEntry, order: AuditEntry, received: bigint): void {
    const { to } = order.data;
    const where = { stream: seen.stream, revision: seen.revision, id: seen.id };
    const counterparty = isOft(order) ? arrivingFrom(to.chainId) : minting(to.chainId);
    const changes = [{ asset: to.token.address, amount: received.toString(), counterparty }];
    out.claim({
      ...{ side: 'log', kind: 'topUp', where, position: seen.position, at: seen.at, changes, cost: null, fee: '0' },
      ...{ chainId: to.chainId, account: to.account, txHash: seen.data.hash, block: seen.data.blockNumber },
    });
  }
}
