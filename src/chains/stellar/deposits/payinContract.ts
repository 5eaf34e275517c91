/** Checks that a contract on the network is our payin contract: its code, treasury and token were fixed at its creation. */
import { Contract, scValToNative, type xdr } from '@stellar/stellar-sdk';
import { payin } from '../../../../contracts/stellar/artifacts/payin.ts';
import type { StellarConfig } from '../config.ts';
import { ledgerEntries } from '../reads.ts';
import type { StellarRpc } from '../rpc.ts';
import { assetContractOf, payinToken } from '../tokens.ts';

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
