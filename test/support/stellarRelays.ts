/** Authorization entries that payers on Stellar sign. Written from CAP-46-11, without the service's code. */
import { randomBytes } from 'node:crypto';
import {
  Account,
  Address,
  authorizeEntry,
  Keypair,
  Networks,
  nativeToScVal,
  Operation,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import { chainOf, findToken, type Token } from '../../domain/chains.ts';
import type { Deposit } from '../../domain/payment/shapes.ts';
import type { EntryOrder } from '../../src/chains/ports.ts';

export interface TransferTerms {
  readonly contract: string;
  readonly to: string;
  readonly amount: bigint;
  readonly passphrase: string;
  readonly validUntil: number;
  /** Default: a random one. */
  readonly nonce?: string;
  /** Key that signs. Default: the payer's. */
  readonly signer?: Keypair;
}

export interface SignedEntry {
  readonly payer: string;
  readonly nonce: string;
  readonly validUntil: number;
  readonly entry: xdr.SorobanAuthorizationEntry;
}

/** The call that an entry of the payer authorizes. */
export const transferCall = (from: string, { contract, to, amount }: TransferTerms): xdr.InvokeContractArgs =>
  new xdr.InvokeContractArgs({
    contractAddress: new Address(contract).toScAddress(),
    functionName: 'transfer',
    args: [new Address(from).toScVal(), new Address(to).toScVal(), nativeToScVal(amount, { type: 'i128' })],
  });

export async function signedTransfer(payer: Keypair, terms: TransferTerms): Promise<SignedEntry> {
  const from = payer.publicKey();
  const nonce = terms.nonce ?? randomBytes(8).readBigInt64BE().toString();
  const unsigned = new xdr.SorobanAuthorizationEntry({
    rootInvocation: new xdr.SorobanAuthorizedInvocation({
      function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(transferCall(from, terms)),
      subInvocations: [],
    }),
    credentials: xdr.SorobanCredentials.sorobanCredentialsAddress(
      new xdr.SorobanAddressCredentials({
        address: new Address(from).toScAddress(),
        nonce: xdr.Int64.fromString(nonce),
        signatureExpirationLedger: terms.validUntil,
        signature: xdr.ScVal.scvVoid(),
      }),
    ),
  });
  const signer = terms.signer ?? payer;
  const entry = await authorizeEntry(unsigned, signer, terms.validUntil, terms.passphrase);
  return { payer: from, nonce, validUntil: terms.validUntil, entry };
}

export function entryOrder(
  { payer, nonce, validUntil, entry }: SignedEntry,
  { deposit, to, amount }: { readonly deposit: Deposit; readonly to: string; readonly amount: bigint },
): EntryOrder {
  return {
    chainId: 1500,
    token: findToken(chainOf(1500), 'USDC') as Token,
    receiver: to,
    receiverMemo: null,
    amount,
    form: {
      kind: 'authorizationEntry',
      deposit: { address: deposit.address, salt: deposit.salt, memo: deposit.memo ?? '' },
      payer,
      validUntil: String(validUntil),
      nonce,
      signature: `0x${entry.toXDR('hex')}`,
      costMax: String(10n ** 8n),
    },
  };
}

/** The transaction of a payer's program: its source and sequence count for nothing. */
export function entryTransaction(entry: xdr.SorobanAuthorizationEntry): string {
  const func = xdr.HostFunction.hostFunctionTypeInvokeContract(entry.rootInvocation().function().contractFn());
  const source = new Account(Keypair.random().publicKey(), '1');
  return new TransactionBuilder(source, { fee: '100', networkPassphrase: Networks.PUBLIC })
    .addOperation(Operation.invokeHostFunction({ func, auth: [entry] }))
    .setTimeout(60)
    .build()
    .toXDR();
}
