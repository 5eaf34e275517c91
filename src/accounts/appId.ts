import { type Refusal, refuse } from '../../domain/decider.ts';
import { appKind } from '../../domain/merchant/app.ts';
import type { RegistrationRequest } from './accounts.ts';

const nameMax = 40;
const tailCharacters = 6;

/** The id that is asked for, or one made of the name and something random, so that nobody is in its way. */
export function appIdFor(
  { kind, slug, displayName }: Pick<RegistrationRequest, 'kind' | 'slug' | 'displayName'>,
  random: string,
): string | Refusal {
  if (slug === null)
    return `${kind}_${[readable(displayName), random.slice(0, tailCharacters)].filter(Boolean).join('-')}`;
  const appId = `${kind}_${slug}`;
  if (appKind(appId)) return appId;
  return refuse('invalidRequest', 'slug must be 1 to 48 of a-z, 0-9, _ and -, a letter or digit at both ends', '/slug');
}

/** What is left of a name in the letters of ids. */
const readable = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, nameMax)
    .replaceAll(/^-+|-+$/g, '');
