/** A new API key is returned once every instance accepts it. Only that answer contains the key, so no retry can return it. */
import type { By } from '../../commands/handle.ts';
import type { Changed, IssuedKeyText, KeyRequest, ManageMerchant } from '../../commands/manageMerchant.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { unavailable } from './errors.ts';

/** Waits for the read models of every instance. */
export interface InForce {
  /** Waits up to 5 s until every instance has read the change. @throws ApiError unavailable after that; the change stays recorded */
  readonly shown: (change: Changed) => Promise<void>;
}

/** Needs of `issueKey`. */
export interface IssueKeyDeps extends InForce {
  readonly merchants: Pick<ManageMerchant, 'issueKey' | 'revokeKey'>;
}

const retry_s = 2;

/**
 * Issues a key, and revokes it if it is not in force in time: then nobody has it, and a repeated request issues another one. Crash before
 * the revocation: nobody has the key.
 * @throws ApiError unavailable
 */
export async function issueKey(
  { merchants, shown }: IssueKeyDeps,
  appId: string,
  request: KeyRequest,
  by: By,
): Promise<IssuedKeyText | Refusal> {
  const issued = await merchants.issueKey(appId, request, by);
  if (isRefusal(issued)) return issued;
  try {
    await shown(issued);
  } catch (error) {
    await merchants.revokeKey(appId, issued.keyId, by).catch(() => {});
    throw unavailable('No key was issued: send the same request again.', retry_s, error);
  }
  return issued;
}
