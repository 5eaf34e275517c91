/** JSON web tokens of sessions. A good one says no more than which session it is of: whether that still runs, Postgres knows. */
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../commands/ports.ts';
import { epochMs, type Instant } from '../../domain/time.ts';
import type { SignedIn } from './accounts.ts';
import { algorithm, type SigningKeys } from './signingKeys.ts';

export interface Tokens {
  issue(session: SignedIn, expiresAt: Instant): Promise<string>;
  /** Null for a token that is not ours, too old, or for something else. @throws Unavailable */
  read(token: string): Promise<SignedIn | null>;
}

const issuer = 'payment-intents';
const audience = 'payment-intents';
const type = 'JWT';

const seconds = (at: Instant): number => Math.floor(epochMs(at) / 1_000);

export function createTokens(keys: SigningKeys, clock: Pick<Clock, 'now'>): Tokens {
  return {
    async issue({ developerId, sessionId }, expiresAt) {
      const { kid, key } = await keys.current();
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: algorithm, typ: type, kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(developerId)
        .setIssuedAt(seconds(clock.now()))
        .setExpirationTime(seconds(expiresAt))
        .sign(key);
    },

    async read(token) {
      try {
        const { payload } = await jwtVerify(token, ({ kid }) => keyNamed(kid), {
          algorithms: [algorithm],
          issuer,
          audience,
          typ: type,
          requiredClaims: ['sub', 'sid', 'exp', 'iat'],
          currentDate: new Date(epochMs(clock.now())),
        });
        const { sub, sid } = payload;
        return typeof sub === 'string' && typeof sid === 'string' ? { developerId: sub, sessionId: sid } : null;
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };

  async function keyNamed(kid: string | undefined) {
    const key = kid === undefined ? undefined : await keys.publicKey(kid);
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key;
  }
}
