import { createHash } from 'node:crypto';
import { Contract, scValToNative, type xdr } from '@stellar/stellar-sdk';
import { payin } from '../../../../contracts/stellar/artifacts/payin.ts';
import { assert } from '../../../../domain/decider.ts';
import { intents } from '../../../../domain/payment/intent.ts';
import type { Deposit } from '../../../../domain/payment/shapes.ts';
import type { DepositScheme } from '../../ports.ts';
import type { StellarConfig } from '../config.ts';
import { ledgerEntries } from '../reads.ts';
import type { StellarRpc } from '../rpc.ts';
import { assetContractOf, payinToken } from '../tokens.ts';

/** Name of the derivation of the memos. Another derivation gets another name: old payments keep their memos. */
export const depositScheme = 'stellar-memo-1';

/** The contract's memo: 14 bytes as 28 hexadecimal digits, the maximum of a plain transfer's text memo. */
const contractMemo_bytes = 14;

/**
 * The treasury's account with a memo per payment; for the contract intent the payin contract with a memo, which a plain transfer to the
 * treasury may use as well. Memos are derived one-way, so payment ids never appear on the chain.
 *
 * A classic memo is a number below 2^63 in decimal. It can be sent as a text, as an id or inside an M address, depending on the payer's
 * wallet or exchange, with the same meaning. Two of ten million payments share a memo with a chance of 1 in 180,000.
 */
export function createStellarDeposits(deposits: StellarDeposits): DepositScheme {
  return {
    intents: deposits.payinContract === null ? [] : intents,
    async assign(paymentId, _token, intent) {
      const byContract = intent !== null;
      assert(
        !byContract || deposits.payinContract !== null,
        'the intent is offered only where the contract is configured',
      );
      return stellarDepositOf(deposits, paymentId, byContract);
    },
  };
}

/** Deposit of a payment, deterministic. @param byContract true if it is paid through the contract */
export function stellarDepositOf(
  { treasury, payinContract }: StellarDeposits,
  paymentId: string,
  byContract: boolean,
): Deposit {
  const salt = createHash('sha256').update(`payment-intents/${depositScheme}/${paymentId}`).digest();
  const own = { scheme: depositScheme, address: treasury, salt: salt.toString('hex') };
  if (!byContract) return { ...own, memo: numberIn(salt), contract: null, contractMemo: null };
  const contractMemo = salt.subarray(-contractMemo_bytes).toString('hex');
  return { ...own, memo: contractMemo, contract: payinContract, contractMemo };
}

export interface StellarDeposits {
  readonly treasury: string;
  readonly payinContract: string | null;
}

/** Memo of a deposit that no contract receives. */
export const numberIn = (salt: Buffer): string => (salt.readBigUInt64BE(0) >> 1n).toString();

// Checks that a contract on the network is our payin contract: its code, treasury and token were fixed at its
// creation.

/** True if an instance runs our code for this treasury and token (C…, the asset's contract). */
export function isPayinOf(instance: xdr.ScContractInstance, treasury: string, tokenId: string): boolean {
  const executable = instance.executable();
  if (executable.switch().name !== 'contractExecutableWasm') return false;
  const remembered = Object.fromEntries(
    (instance.storage() ?? []).map((entry) => [scValToNative(entry.key()), scValToNative(entry.val())]),
  );
  const sameCode = executable.wasmHash().toString('hex') === payin.wasmHash;
  return sameCode && remembered['dest'] === treasury && remembered['token'] === tokenId;
}

type Configured = Pick<StellarConfig, 'payinContract' | 'treasury' | 'networkPassphrase'>;

/**
 * Returns why the configured contract must not be offered: customers' money would go to somebody else or stay unnoticed. Undefined if the
 * contract is right or none is configured.
 * @throws ChainUnavailable if no node can answer
 */
export async function contractProblem(
  { payinContract, treasury, networkPassphrase }: Configured,
  rpc: StellarRpc,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (payinContract === null) return undefined;
  const key = new Contract(payinContract).getFootprint();
  const answer = await rpc.firstAnswer((node) => ledgerEntries(node, [key]), signal);
  const entry = answer?.found.get(key.toXDR('base64'));
  const tokenId = assetContractOf(payinToken(), networkPassphrase);
  if (entry && isPayinOf(entry.contractData().val().instance(), treasury, tokenId)) return undefined;
  const what = entry ? `is no payin contract of the treasury ${treasury}` : 'does not exist on this network';
  return `STELLAR_PAYIN_CONTRACT: ${payinContract} ${what}: docs/operate/stellar.md says how to deploy it`;
}
