/** The payment page of an example order with branding that is not saved yet, for a frame on the page of branding. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { Clock } from '../../commands/ports.ts';
import type { Instant } from '../../domain/time.ts';
import { contentSecurityPolicy } from '../../src/api/middleware.ts';
import { readColour } from '../parts/colour.ts';
import type { Mode, Site } from '../parts/frame.ts';
import { entry, fields } from './forms.ts';
import type { Frames } from './frames.ts';
import { type AnyPage, page } from './page.ts';

/** Model of the page of an example order. */
export interface ExamplePage {
  readonly mode: Mode;
  readonly shop: {
    readonly name: string | null;
    readonly supportContact: string | null;
    readonly logoUrl: string | null;
    /** `#rrggbb` */
    readonly colour: string | null;
    readonly returnUrl: null;
  };
  readonly now: Instant;
}

/** Needs of the preview of the branding. */
export interface BrandingPreviewDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly site: Site;
  /** Draws the payment page of an example order. */
  readonly drawExample: (example: ExamplePage) => VNode;
}

/** Only our own pages may frame it. The frame itself allows neither scripts nor forms. */
const headers = {
  'Content-Security-Policy': contentSecurityPolicy({ scriptSrc: ["'none'"], frameAncestors: ["'self'"] }),
  'X-Frame-Options': null,
};

export const brandingPreviewPages = (
  { clock, site, drawExample }: BrandingPreviewDeps,
  frames: Frames,
): readonly AnyPage[] => [
  page({
    path: '/dashboard/apps/{appId}/branding/preview',
    audience: 'owner',
    query: fields({
      name: Type.Optional(entry(200)),
      supportContact: Type.Optional(entry(500)),
      colour: Type.Optional(entry(32)),
    }),
    async show(visit) {
      const { name = null, supportContact = null, colour = '' } = visit.query;
      const { logoUrl } = await frames.ofApp(visit);
      const shop = { name, supportContact, logoUrl, colour: readColour(colour) && colour, returnUrl: null };
      return { page: drawExample({ mode: site.mode, shop, now: clock.now() }), headers };
    },
  }),
];
