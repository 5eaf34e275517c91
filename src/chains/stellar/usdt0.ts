/**
 * USDT0 (LayerZero's OFT standard) on Stellar: the call that sends, its fee, and the contracts.
 *
 * Interface: `monorepo-external` of LayerZero-Labs, `apps/oft-app/contracts/stellar` (oft-core) and `contracts/protocol/stellar`
 * (endpoint-v2). An integrator read the same interface from the deployed contract in October 2026 (`stellar-layerzero-demos` of kaankacar).
 * Not confirmed by a send of ours: `describeUsdt0` compares what views return before the first move.
 */
import { Asset, xdr } from '@stellar/stellar-sdk';
import { chainOf } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import { address32 } from '../../../domain/rebalance/burnMessage.ts';
import {
  chainOfEndpoint,
  endpointIdOf,
  oftOn,
  sendableOn,
  stellarUsdt0,
  type Usdt0ChainId,
  usdt0ChainIds,
} from '../../../domain/rebalance/usdt0.ts';
import { ownMemo } from '../money/receiverCheck.ts';
import { PayoutBlocked, type TransferOrder } from '../ports.ts';
import { stellarChainId } from './config.ts';
import {
  addressVal,
  bytesVal,
  type ContractCall,
  i128Val,
  noAccount,
  readView,
  structVal,
  u32Val,
} from './contractCall.ts';
import { obstacle } from './payouts/preflight.ts';
import { RpcFailed, type StellarNode } from './rpc.ts';

export interface Sending {
  readonly to: Usdt0ChainId;
  readonly recipient: string;
  /** In smallest units of 7 decimals, of which the last is 0. */
  readonly amount: bigint;
}

/**
 * The whole amount must arrive, nothing is called on the destination, and the contract's own options set the gas of the delivery. So the
 * three texts are always empty.
 */
const paramOf = ({ to, recipient, amount }: Sending): xdr.ScVal =>
  structVal({
    ...{ dst_eid: u32Val(endpointIdOf(to)), to: bytesVal(address32(recipient)) },
    ...{ amount_ld: i128Val(amount), min_amount_ld: i128Val(amount) },
    ...{ extra_options: bytesVal(''), compose_msg: bytesVal(''), oft_cmd: bytesVal('') },
  });

export const isSend = ({ form }: Pick<TransferOrder, 'form'>): boolean => form?.kind === 'oftSend';

function sendingOf({ form, amount }: Pick<TransferOrder, 'form' | 'amount'>): Sending & { readonly fee: bigint } {
  assert(form?.kind === 'oftSend', 'only a send of USDT0 sends');
  const to = chainOfEndpoint(form.destinationDomain);
  assert(to !== undefined, 'a send leads to a chain of ours');
  return { to, recipient: form.recipient, amount, fee: BigInt(form.messageFee) };
}

/** Call of a send. The Endpoint returns lumens that the message does not cost to the account. @param account the treasury */
export function sendCall(order: Pick<TransferOrder, 'form' | 'amount'>, account: string): ContractCall {
  const { fee, ...sending } = sendingOf(order);
  const stated = structVal({ native_fee: i128Val(fee), zro_fee: i128Val(0n) });
  const args = [addressVal(account), paramOf(sending), stated, addressVal(account)];
  return { contract: oftOn(stellarChainId), name: 'send', args };
}

/**
 * Calls that the treasury authorizes besides the send: the contract burns the amount, and the Endpoint receives the message fee. Without
 * another authorization neither contract can take anything else, even if its owner changes it.
 */
export function callsOfSend(
  { form, amount }: Pick<TransferOrder, 'form' | 'amount'>,
  account: string,
  networkPassphrase: string,
): readonly ContractCall[] {
  assert(form?.kind === 'oftSend', 'only a send of USDT0 sends');
  const fee = i128Val(BigInt(form.messageFee));
  const lumens = Asset.native().contractId(networkPassphrase);
  return [
    { contract: stellarUsdt0.token, name: 'burn', args: [addressVal(account), i128Val(amount)] },
    { contract: lumens, name: 'transfer', args: [addressVal(account), addressVal(stellarUsdt0.endpoint), fee] },
  ];
}

/** Present message fee of a send, in stroops. @param from any account, which pays nothing @throws RpcFailed */
export async function quoteSend(
  node: StellarNode,
  sending: Sending,
  networkPassphrase: string,
  from = noAccount,
): Promise<bigint> {
  const args = [addressVal(from), paramOf(sending), xdr.ScVal.scvBool(false)];
  const call = { contract: oftOn(stellarChainId), name: 'quote_send', args };
  const fee = await readView(node, call, networkPassphrase);
  const { native_fee: native, zro_fee: zro } = (fee ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof native === 'bigint' && native >= 0n && zro === 0n) return native;
  throw new RpcFailed(node.name, 'simulateTransaction', 'refused', `it states no fee of a message to ${sending.to}`);
}

/**
 * Checks before a signature: the message must not cost more than ordered, or the Endpoint would refuse it.
 * @throws PayoutBlocked, RpcFailed
 */
export async function checkSend(
  node: StellarNode,
  order: TransferOrder,
  { account, networkPassphrase }: { readonly account: string; readonly networkPassphrase: string },
): Promise<void> {
  const { fee, ...sending } = sendingOf(order);
  const quoted = await quoteSend(node, sending, networkPassphrase, account);
  if (quoted <= fee) return;
  const words = `the message costs ${quoted} stroops now, and ${fee} were ordered`;
  throw new PayoutBlocked('gas', `${words}: it waits for a lower fee, or cancel it and order it again`);
}

/**
 * Compares the contracts on the chain with this release's addresses, and checks that the treasury can receive their token, for an operator
 * before the first move. @returns the comparison in words @throws RpcFailed
 */
export async function describeUsdt0(node: StellarNode, networkPassphrase: string, treasury: string): Promise<string> {
  const oft = oftOn(stellarChainId);
  const view = (name: string, args: readonly xdr.ScVal[] = [], contract = oft) =>
    readView(node, { contract, name, args }, networkPassphrase);
  const others = usdt0ChainIds.filter((each) => each !== stellarChainId);
  const expected: readonly (readonly [string, unknown, () => Promise<unknown>])[] = [
    ['token', stellarUsdt0.token, () => view('token')],
    ['endpoint', stellarUsdt0.endpoint, () => view('endpoint')],
    ['endpoint id', endpointIdOf(stellarChainId), () => view('eid', [], stellarUsdt0.endpoint)],
    [
      'coin of fees',
      Asset.native().contractId(networkPassphrase),
      () => view('native_token', [], stellarUsdt0.endpoint),
    ],
    ['shared_decimals', 6, () => view('shared_decimals')],
    ['decimal_conversion_rate', 10n, () => view('decimal_conversion_rate')],
    ['approval_required', false, () => view('approval_required')],
    ['is_paused', false, () => view('is_paused')],
    ...others.map(
      (each) =>
        [
          `peer on ${chainOf(each).name}`,
          address32(oftOn(each)),
          () => view('peer', [u32Val(endpointIdOf(each))]),
        ] as const,
    ),
  ];
  for (const [name, value, read] of expected) {
    const found = await read();
    if (found === undefined && name === 'token') return `no contract at ${oft}: send nothing from here`;
    const said = found instanceof Uint8Array ? Buffer.from(found).toString('hex') : found;
    if (said !== value)
      return `its ${name} is ${String(said)}, this release has ${String(value)}: send nothing from here`;
  }
  const fees: string[] = [];
  for (const to of others) fees.push(`${await priceOf(node, to, networkPassphrase)} to ${chainOf(to).name}`);
  const compared = `the contracts of this release; a message costs ${fees.join(', ')}`;
  const token = sendableOn(stellarChainId);
  const missing = token && (await obstacle(node, token, { address: treasury, memo: ownMemo }, null));
  return missing ? `${compared}; no move to Stellar is burned: ${missing.message}` : compared;
}

/** Any recipient has the same fee. */
async function priceOf(node: StellarNode, to: Usdt0ChainId, networkPassphrase: string): Promise<string> {
  try {
    return `${await quoteSend(node, { to, recipient: oftOn(to), amount: 10n }, networkPassphrase)} stroops`;
  } catch (error) {
    if (error instanceof RpcFailed && error.kind === 'refused') return 'no fee';
    throw error;
  }
}
