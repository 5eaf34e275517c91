/** What an app shows of itself: changed field by field, kept beside the log, which holds its digest alone. */
import { createHash } from 'node:crypto';
import { type Decision, isRefusal, type Refusal } from '../domain/decider.ts';
import type { MerchantEvent } from '../domain/merchant/events.ts';
import {
  changedFields,
  noProfile,
  type Profile,
  type ProfileChange,
  readProfileChange,
  setProfile,
} from '../domain/merchant/profile.ts';
import { type MerchantState, merchant } from '../domain/merchant/state.ts';
import { currentState, type Handle, type Handled } from './handle.ts';
import type { Ids, Logo, ProfileStore } from './ports.ts';

export interface ProfileDeps {
  readonly handle: Handle;
  readonly ids: Pick<Ids, 'secret'>;
  readonly profiles: ProfileStore;
  /** Decodes a picture that somebody sent and makes one of our own of it; a refusal says what is wrong with it. */
  readonly readLogo: (bytes: Uint8Array) => Promise<Logo | Refusal>;
}

type Outcome = Handled<MerchantState> | Refusal;
type Change = (appId: string, decide: (state: MerchantState) => Decision<MerchantEvent>) => Promise<Outcome>;

/** Somebody else who changes the profile at the same time wins at most this often. */
const triesMax = 5;

/** @param change appends what is decided, on whose behalf it is */
export async function changeProfile(
  deps: ProfileDeps,
  appId: string,
  stated: ProfileChange,
  change: Change,
): Promise<Outcome> {
  const read = readProfileChange(stated);
  return isRefusal(read) ? read : applyChange(deps, appId, read, change);
}

/** @param bytes null takes the logo away */
export async function changeLogo(
  deps: ProfileDeps,
  appId: string,
  bytes: Uint8Array | null,
  change: Change,
): Promise<Outcome> {
  if (bytes === null) return applyChange(deps, appId, { logo: null }, change);
  const logo = await deps.readLogo(bytes);
  if (isRefusal(logo)) return logo;
  await deps.profiles.keepLogo(appId, logo);
  return applyChange(deps, appId, { logo: logo.digest }, change);
}

/** Keeps what an app begins with. @returns its digest */
export async function firstProfile(deps: ProfileDeps, appId: string, name: string): Promise<string | Refusal> {
  const read = readProfileChange({ name });
  return isRefusal(read) ? read : keep(deps, appId, { ...noProfile, ...read });
}

/**
 * The row is written before the event that names it: a crash in between leaves a row that nobody shows.
 * What is decided on another profile than the one that was read is decided anew, so that no change undoes another.
 */
async function applyChange(
  deps: ProfileDeps,
  appId: string,
  fields: Partial<Profile>,
  change: Change,
): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    const { profile: before } = await currentState(deps.handle, merchant, appId);
    const shown = (before === null ? null : await deps.profiles.find(before)) ?? noProfile;
    const next: Profile = { ...shown, ...fields };
    const changed = changedFields(shown, next);
    if (changed.length === 0) return change(appId, () => []);
    const digest = await keep(deps, appId, next);
    const outcome = await change(appId, (state) => setProfile(state, { digest, changed }, before));
    if (!isRefusal(outcome) || outcome.refused !== 'conflict' || tries === triesMax) return outcome;
  }
}

/** The salt keeps a digest from telling a name that can be guessed. */
async function keep({ profiles, ids }: ProfileDeps, appId: string, profile: Profile): Promise<string> {
  const content = JSON.stringify({ salt: ids.secret(), ...profile });
  const digest = createHash('sha256').update(content).digest('hex');
  await profiles.keep(appId, { digest, content });
  return digest;
}
