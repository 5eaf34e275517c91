/** A transfer that a stream owes, as far as the stream itself knows. */
import type { PurposeKind, TransferKey } from './key.ts';
import type { TransferLeg } from './leg.ts';
import type { TransferStep } from './step.ts';

export interface Owed {
  readonly key: TransferKey;
  /** What limits count it as, and what nonces and signers know it by: the key in one text (`referenceOf`). */
  readonly purpose: { readonly kind: PurposeKind; readonly reference: string };
  /** Whose limits it counts for; null for what is the treasury's own. */
  readonly appId: string | null;
  /** Of one that is not ordered yet, the leg that it will have. */
  readonly leg: TransferLeg;
  readonly step: TransferStep;
}
