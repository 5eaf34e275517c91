/** Circle's protocol (CCTP version 2) on Stellar: the calls that burn and mint. Interface: circlefin/stellar-cctp. */
import type { xdr } from '@stellar/stellar-sdk';
import { assert } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import { addressing, parseBurnMessage } from '../../../domain/rebalance/burnMessage.ts';
import { domainOf, stellarCctp } from '../../../domain/rebalance/cctp.ts';
import { PayoutBlocked, type TransferOrder } from '../ports.ts';
import { stellarChain, stellarChainId } from './config.ts';
import { addressVal, bytesVal, type ContractCall, callOperation, i128Val, readView, u32Val } from './contractCall.ts';
import { obstacle } from './payouts/preflight.ts';
import { RpcFailed, type StellarNode } from './rpc.ts';

/** The messenger takes the amount out of its allowance and destroys it. Amounts have 7 decimals here, of which the last is 0. */
export function burnCall({ form, amount }: Pick<TransferOrder, 'form' | 'amount'>, account: string): ContractCall {
  assert(form?.kind === 'burn', 'only a burn burns');
  const { destinationDomain, feeMax, finality } = form;
  const { mintRecipient, destinationCaller, hookData } = addressing(destinationDomain, form.mintRecipient);
  assert(hookData === '', 'a burn on Stellar needs no hook: it ends on another chain');
  const args = [
    ...[addressVal(account), i128Val(amount), u32Val(destinationDomain), bytesVal(mintRecipient)],
    ...[addressVal(stellarCctp.token), bytesVal(destinationCaller), i128Val(BigInt(feeMax)), u32Val(finality)],
  ];
  return { contract: stellarCctp.messenger, name: 'deposit_for_burn', args };
}

/** The forwarder mints, and sends the money to the account that the message names. Each caller may ask for it. */
export function mintCall({ form }: Pick<TransferOrder, 'form'>): ContractCall {
  assert(form?.kind === 'mint', 'only a mint mints');
  const args = [form.message, form.attestation].map((hex) => bytesVal(hex.slice(2)));
  return { contract: stellarCctp.forwarder, name: 'mint_and_forward', args };
}

/** @param until last ledger of the allowance */
export function allowanceCall({ form }: Pick<TransferOrder, 'form'>, account: string, until: number): ContractCall {
  assert(form?.kind === 'allow' && form.contract === 'tokenMessenger', 'only the messenger takes an allowance here');
  const args = [addressVal(account), addressVal(stellarCctp.messenger), i128Val(BigInt(form.most)), u32Val(until)];
  return { contract: stellarCctp.token, name: 'approve', args };
}

/** Satisfies an account that demands a memo. */
const anyMemo = 'rebalance';

/** Ledgers of 90 days. The network keeps an allowance for at most 180 days. */
const allowance_ledgers = 1_555_200;

/** Whether an order burns, mints, or lets the protocol burn. */
export const callsProtocol = ({ form }: Pick<TransferOrder, 'form'>): boolean =>
  form !== undefined && ['burn', 'mint', 'allow'].includes(form.kind);

/** The operation of an order that calls the protocol; undefined for any other order. @param ledger the newest one */
export function cctpOperation(order: TransferOrder, account: string, ledger: bigint): xdr.Operation | undefined {
  if (!callsProtocol(order)) return undefined;
  if (order.form?.kind === 'burn') return callOperation(burnCall(order, account));
  if (order.form?.kind === 'mint') return callOperation(mintCall(order));
  return callOperation(allowanceCall(order, account, Number(ledger) + allowance_ledgers));
}

/** True if a message of this nonce was minted. @param nonce 64 hex digits @throws RpcFailed */
export async function isMinted(node: StellarNode, nonce: string, networkPassphrase: string): Promise<boolean> {
  const call = { contract: stellarCctp.transmitter, name: 'is_nonce_used', args: [bytesVal(nonce)] };
  const used = await readView(node, call, networkPassphrase);
  if (typeof used === 'boolean') return used;
  throw new RpcFailed(node.name, 'simulateTransaction', 'refused', `it cannot run ${call.name} of ${call.contract}`);
}

async function burnAllowanceOf(node: StellarNode, account: string, networkPassphrase: string): Promise<bigint> {
  const args = [addressVal(account), addressVal(stellarCctp.messenger)];
  const allowed = await readView(node, { contract: stellarCctp.token, name: 'allowance', args }, networkPassphrase);
  return typeof allowed === 'bigint' ? allowed : 0n;
}

/**
 * Checks before a signature: a transaction that would fail costs a fee and moves nothing.
 * @throws PayoutBlocked if the allowance lacks the amount, the account has no room for a mint, or the message is minted already
 */
export async function checkProtocolCall(
  node: StellarNode,
  { form, amount, token }: TransferOrder,
  { account, networkPassphrase }: { readonly account: string; readonly networkPassphrase: string },
): Promise<void> {
  if (form?.kind === 'burn') {
    const allowed = await burnAllowanceOf(node, account, networkPassphrase);
    if (allowed >= amount) return;
    const words = (units: bigint) => `${formatAmount(units, token.decimals)} ${token.symbol}`;
    const message = `the contract that burns may take ${words(allowed)} on ${stellarChain().name}, ${words(amount)} are to be burned`;
    throw new PayoutBlocked('refusedByToken', `${message}: run npm run treasury -- allow-burns stellar <USDC>`);
  }
  if (form?.kind !== 'mint') return;
  // The forwarder sends without a memo, whatever the account demands of payers (SEP-29).
  const why = await obstacle(node, token, { address: account, memo: anyMemo }, amount);
  if (why) throw new PayoutBlocked('refusedByToken', why.message);
  const message = parseBurnMessage(form.message);
  if (message && (await isMinted(node, message.nonce, networkPassphrase)))
    throw new PayoutBlocked('refusedByToken', `somebody minted message 0x${message.nonce} on Stellar already`);
}

/**
 * Compares the contracts on the chain with this release's addresses, for an operator before the first burn.
 * @returns the comparison in words @throws RpcFailed
 */
export async function describeContracts(node: StellarNode, networkPassphrase: string): Promise<string> {
  const { messenger, transmitter, forwarder, token } = stellarCctp;
  const expected: readonly (readonly [ContractCall, unknown])[] = [
    [{ contract: transmitter, name: 'get_local_domain', args: [] }, domainOf(stellarChainId)],
    [{ contract: messenger, name: 'get_local_message_transmitter', args: [] }, transmitter],
    [{ contract: forwarder, name: 'get_message_transmitter', args: [] }, transmitter],
    [{ contract: forwarder, name: 'get_token_messenger_minter', args: [] }, messenger],
  ];
  for (const [call, value] of expected) {
    const found = await readView(node, call, networkPassphrase);
    if (found === undefined) return `no contract at ${call.contract}: burn nothing here, and nothing for here`;
    if (found !== value)
      return `${call.name} of ${call.contract} is ${String(found)}; this release has ${String(value)}: burn nothing here`;
  }
  const limit = { contract: messenger, name: 'get_max_burn_amount_per_message', args: [addressVal(token)] };
  const most = await readView(node, limit, networkPassphrase);
  const words = typeof most === 'bigint' ? formatAmount(most, 7) : 'no';
  return `the contracts of this release, domain ${domainOf(stellarChainId)}; one burn moves ${words} USDC at most`;
}
