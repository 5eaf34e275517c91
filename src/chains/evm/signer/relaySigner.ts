/** The relay account's key. It sends payers' authorizations to tokens of the catalogue, and moves nothing of ours. */
import { type Address, type Hex, hexToBytes, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Chain, tokenAt } from '../../../../domain/chains.ts';
import { type Signer, type SigningPurpose, SigningRefused, type TransferOrder, type Unsigned } from '../../ports.ts';
import { acceptedSignature, authorizationCall, authorizationIn, knownDomain } from '../authorization.ts';
import { evmChainIds } from '../config.ts';
import { depositAddresses } from '../forwarder.ts';
import type { EvmPayload } from '../payouts/transaction.ts';
import {
  checkCancel,
  checkTransactionFrame,
  type EvmSignerDeps,
  isSalt,
  isSame,
  signableTransactionOf,
} from './signer.ts';

export interface RelaySignerDeps extends EvmSignerDeps {
  readonly feesOn: NonNullable<EvmSignerDeps['feesOn']>;
  /** Treasury whose deposits can be paid. */
  readonly treasury: Address;
}

/**
 * Signs an authorization of a catalogue token to a deposit of ours, with 0 wei, and cancels; nothing else.
 * @throws SigningRefused from `check` and `sign`
 */
export function createEvmRelaySigner({
  privateKey,
  treasury,
  chainIds = evmChainIds,
  feesOn,
  spending,
}: RelaySignerDeps): Signer {
  const key = privateKeyToAccount(privateKey);
  const addressOf = depositAddresses(treasury);

  /** @returns what signing needs, and what counts it towards the hour's limit */
  async function examine(unsigned: Unsigned, purpose: SigningPurpose) {
    const { chain, payload, fee } = checkTransactionFrame(unsigned, purpose, key.address, chainIds, feesOn);
    if (purpose.kind === 'cancel') checkCancel(payload, key.address);
    else if (purpose.kind === 'relay') await checkRelay(payload, chain, unsigned.order);
    else throw new SigningRefused('mismatch', `the relay account makes no ${purpose.kind}: it relays`);
    return { payload, count: spending(unsigned, purpose, fee) };
  }

  async function checkRelay(payload: EvmPayload, chain: Chain, order: TransferOrder): Promise<void> {
    const { token, form, receiver, receiverMemo, amount } = order;
    const listed = tokenAt(chain, token.address);
    const domain = knownDomain(chain, token.address);
    const authorization = authorizationIn(order);
    const same =
      form?.kind === 'authorization' &&
      authorization !== null &&
      domain !== null &&
      listed?.address === token.address &&
      listed.decimals === token.decimals &&
      amount > 0n &&
      receiverMemo === null &&
      isSalt(form.deposit.salt) &&
      addressOf(hexToBytes(form.deposit.salt)) === form.deposit.address &&
      receiver === form.deposit.address &&
      isSame(payload, authorizationCall(order)) &&
      // An authorization that the payer did not sign would be reverted, and cost gas.
      (await acceptedSignature(chain.id, authorization, domain, form.signature)) === form.signature;
    if (!same)
      throw new SigningRefused(
        'mismatch',
        'a relay sends an authorization of a catalogue token, signed by its payer, to a deposit of ours, with no coin',
      );
  }

  return {
    account: key.address,
    check: async (unsigned, purpose) => void (await examine(unsigned, purpose)),
    async sign(unsigned, purpose) {
      const { payload, count } = await examine(unsigned, purpose);
      count();
      const bytes: Hex = await key.signTransaction(signableTransactionOf(unsigned, payload));
      return { bytes, hash: keccak256(bytes) };
    },
  };
}
