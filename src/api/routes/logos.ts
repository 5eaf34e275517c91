import Type from 'typebox';
import type { Logo } from '../../../commands/ports.ts';
import { refuse } from '../../../domain/decider.ts';
import { type AnyRoute, route } from '../router.ts';

const LogoPath = Type.Object({ digest: Type.String() }, { additionalProperties: false });

/** Needs of the route of logos. */
export interface LogoRoutesDeps {
  readonly findLogo: (digest: string) => Promise<Logo | null>;
}

/**
 * Logos by the digest of their bytes, so an address never changes its content. The service encodes each picture, so its type is certain;
 * pages of shops may display it.
 */
export const logoRoutes = (deps: Pick<LogoRoutesDeps, 'findLogo'>): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: '/logos/{digest}',
    auth: 'none',
    anyOrigin: true,
    params: LogoPath,
    answers: { 200: { description: 'The picture' } },
    errors: ['notFound'],
    doc: null,
    async handle({ params: { digest } }) {
      const logo = /^[0-9a-f]{64}$/.test(digest) ? await deps.findLogo(digest) : null;
      if (!logo) return refuse('notFound', 'no app has this logo');
      return {
        status: 200,
        body: logo.bytes,
        type: logo.type,
        headers: {
          'Cache-Control': 'public, max-age=31536000, immutable',
          'Cross-Origin-Resource-Policy': 'cross-origin',
        },
      };
    },
  }),
];
