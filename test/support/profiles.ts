import { createHash } from 'node:crypto';
import type { ManageMerchantDeps } from '../../commands/manageMerchant.ts';
import type { Logo } from '../../commands/ports.ts';
import type { Profile } from '../../domain/merchant/profile.ts';
import { profileOf } from '../../queries/apps.ts';

/** Profiles and logos in memory; a picture is kept as it is sent. */
export function memoryProfiles(): Pick<ManageMerchantDeps, 'profiles' | 'readLogo'> & {
  readonly contents: ReadonlyMap<string, string>;
  readonly logos: ReadonlyMap<string, Logo>;
} {
  const contents = new Map<string, string>();
  const logos = new Map<string, Logo>();
  return {
    contents,
    logos,
    profiles: {
      keep: async (_appId, { digest, content }) => void contents.set(digest, content),
      find: async (digest): Promise<Profile | null> => {
        const content = contents.get(digest);
        return content === undefined ? null : profileOf(JSON.parse(content));
      },
      keepLogo: async (_appId, logo) => void logos.set(logo.digest, logo),
    },
    readLogo: async (bytes) => ({
      digest: createHash('sha256').update(bytes).digest('hex'),
      type: 'image/png',
      bytes,
    }),
  };
}
