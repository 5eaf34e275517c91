import { StrKey, xdr } from '@stellar/stellar-sdk';
import { accountKey } from '../ledger/keys.ts';
import { countSubEntries } from './changeTrust.ts';
import { type Applied, applied, failed, type OperationContext, type OperationOf } from './operation.ts';

/** Who may sign for an account and how much it takes. Other options are accepted and have no effect here. */
export function setOptions(context: OperationContext, operation: OperationOf<'setOptions'>): Applied {
  const { view, source } = context;
  const { masterWeight, lowThreshold, medThreshold, highThreshold } = operation;
  const wanted = [masterWeight, lowThreshold, medThreshold, highThreshold];
  view.change(accountKey(source), (data) => {
    const thresholds = [...data.account().thresholds()].map((now, at) => Number(wanted[at] ?? now));
    data.account().thresholds(Buffer.from(thresholds));
  });
  const { signer } = operation;
  if (signer) {
    if (!('ed25519PublicKey' in signer) || !signer.ed25519PublicKey || signer.ed25519PublicKey === source) {
      return fail(xdr.SetOptionsResult.setOptionsBadSigner());
    }
    if (!setSigner(context, signer.ed25519PublicKey, Number(signer.weight ?? 0))) {
      return fail(xdr.SetOptionsResult.setOptionsLowReserve());
    }
  }
  return applied(xdr.OperationResultTr.setOptions(xdr.SetOptionsResult.setOptionsSuccess()));
}

/** Weight 0 removes. @returns whether the account's balance covers it */
function setSigner(context: OperationContext, publicKey: string, weight: number): boolean {
  const { view, source } = context;
  const key = xdr.SignerKey.signerKeyTypeEd25519(StrKey.decodeEd25519PublicKey(publicKey));
  const signers = view.get(accountKey(source))?.account().signers() ?? [];
  const others = signers.filter((signer) => !signer.key().toXDR().equals(key.toXDR()));
  const next = weight > 0 ? [...others, new xdr.Signer({ key, weight })] : others;
  if (next.length !== signers.length && !countSubEntries(context, next.length - signers.length)) return false;
  view.change(accountKey(source), (data) => data.account().signers(next));
  return true;
}

const fail = (result: xdr.SetOptionsResult) => failed(xdr.OperationResultTr.setOptions(result));
