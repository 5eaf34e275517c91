/** Payers' view of the app. POST: name, supportContact, returnUrlTemplate, colour. POST to logo: a file named logo. */
import type { VNode } from 'preact';
import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import { type Clock, pictureMax_bytes, pictureTypes } from '../../commands/ports.ts';
import { isRefusal, refuse } from '../../domain/decider.ts';
import { returnUrlOf } from '../../domain/merchant/profile.ts';
import type { PaymentStatus } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import { contentSecurityPolicy } from '../../src/api/middleware.ts';
import type { SettingsReads } from '../../src/api/routes/settings.ts';
import { card, inside } from '../parts/boxes.ts';
import { codeWord, outsideLink } from '../parts/cells.ts';
import { readColour } from '../parts/colour.ts';
import { type FormState, fileField, postButton, problems, submit, textField } from '../parts/field.ts';
import type { Frame, Mode, Site } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths, withQuery } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { entry, fields, noFields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';

export interface BrandingModel extends Frame {
  /** Fields: name, supportContact, returnUrlTemplate, colour (#rrggbb), logo. */
  readonly form: FormState;
  /** The saved return URL for an example order; null without one. */
  readonly returnUrl: string | null;
}

const standardColour = '#0a5c48';

export const brandingPage = (model: BrandingModel): VNode => {
  const { app, form, logoUrl, returnUrl } = model;
  const to = appPaths(app.appId);
  const remove = logoUrl !== null && postButton(to.removeLogo, sayContent('remove'), 'quiet');
  const { name = null, supportContact = null, colour = null } = form.values;
  const previewUrl = withQuery(to.brandingPreview, { name, supportContact, colour });
  return appPage(
    model,
    { title: sayText('branding'), section: 'branding', script: 'branding.js' },
    html`<div class="halves">
      ${card(
        { title: sayText('payersSee') },
        html`<form class="inside" method="post" action=${to.branding} data-preview=${to.brandingPreview}>
          ${problems({
            ...form,
            errors: Object.fromEntries(Object.entries(form.errors).filter(([name]) => name !== 'logo')),
          })}
          ${textField({
            form,
            name: 'name',
            label: sayText('name'),
            optional: true,
            autocomplete: 'organization',
            maxlength: 80,
          })}
          ${textField({
            form,
            name: 'supportContact',
            label: sayText('supportContact'),
            optional: true,
            maxlength: 254,
            placeholder: 'help@shop.example',
            hint: sayContent('supportHint'),
          })}
          ${textField({
            form,
            name: 'returnUrlTemplate',
            label: sayText('returnUrl'),
            type: 'text',
            inputmode: 'url',
            optional: true,
            mono: true,
            maxlength: 2048,
            placeholder: 'https://shop.example/orders/{orderId}',
            hint: html`<span>${sayContent('returnUrlHint', { first: codeWord('{orderId}'), second: codeWord('{paymentId}'), third: codeWord('{status}') })}</span>`,
          })}
          ${returnUrl !== null && html`<p class="small">${outsideLink(returnUrl, sayContent('tryReturnUrl'))}</p>`}
          <div class="picked">${textField({
            form,
            name: 'colour',
            label: sayText('colour'),
            optional: true,
            mono: true,
            maxlength: 7,
            pattern: '#[0-9a-fA-F]{6}',
            placeholder: '#0a5c48',
            hint: sayContent('colourHint'),
          })}
          <input type="color" aria-label=${sayText('chooseColour')} value=${readColour(colour ?? '') ? colour : standardColour} hidden /></div>
          ${submit(sayContent('save'))}
        </form>`,
      )}
      <div class="stack">
        ${card({ title: sayText('paymentPage'), note: sayContent('exampleNote') }, inside(preview(previewUrl)))}
        ${card({ title: sayText('logo'), controls: remove }, logoForm(model))}
      </div>
    </div>`,
  );
};

const logoForm = ({ app, form, logoUrl }: BrandingModel): VNode =>
  html`<form class="inside" method="post" action=${appPaths(app.appId).logo} enctype="multipart/form-data">
    ${logoUrl !== null && html`<img class="logo" src=${logoUrl} alt=${sayText('logoAlt')} width="96" height="96" />`}
    ${fileField({
      form,
      name: 'logo',
      label: sayText(logoUrl === null ? 'aPicture' : 'anotherPicture'),
      accept: pictureTypes.join(),
      hint: sayContent('pictureHint', { size: pictureMax_bytes / 1_000_000 }),
    })}
    ${submit(sayContent('upload'), 'plain')}
  </form>`;

/** The whole payment page with the values of the form. Without scripts it has the values that the page was opened with. */
const preview = (src: string): VNode =>
  html`<div class="preview">
    <div class="controls">
      <fieldset><legend class="visually-hidden">${sayContent('width')}</legend>
        <label><input type="radio" name="width" value="phone" checked /> ${sayContent('phone')}</label>
        <label><input type="radio" name="width" value="desktop" /> ${sayContent('desktop')}</label>
      </fieldset>
      <label><input type="checkbox" name="dark" /> ${sayContent('dark')}</label>
    </div>
    <iframe name="preview" title=${sayText('examplePage')} sandbox="allow-same-origin" src=${src}></iframe>
  </div>`;

// Branding for payers.

/** Needs of the pages of branding. */
export interface BrandingPagesDeps extends Pick<SettingsReads, 'getSettings'>, InForce {
  readonly merchants: Pick<ManageMerchant, 'setProfile' | 'setLogo'>;
}

const path = '/dashboard/apps/{appId}/branding';
const noErrors = {};

/** Its id is the one of no payment, so a shop that checks the payment notices that nobody paid. */
const exampleOrder = {
  paymentId: '00000000-0000-8000-8000-000000000000',
  orderId: 'A-1042',
  status: 'payment_completed' satisfies PaymentStatus,
};

/** The command checks their content. */
const Profile = fields({
  name: Type.Optional(entry(200)),
  supportContact: Type.Optional(entry(500)),
  returnUrlTemplate: Type.Optional(entry(2_048)),
  colour: Type.Optional(entry(32)),
});
const noProfile = { name: null, supportContact: null, returnUrlTemplate: null, colour: null };

export function brandingPages(deps: BrandingPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, getSettings, shown: readable } = deps;
  const shown = async (
    visit: Visit<'owner'>,
    stateOf: (saved: FormState['values']) => FormState,
  ): Promise<PageResult> => {
    const [frame, settings] = await Promise.all([frames.ofApp(visit), getSettings(visit.visitor.appId)]);
    const { logo: _, ...profile } = settings?.profile ?? { logo: null };
    const saved = Object.fromEntries(
      Object.entries(profile).filter((pair): pair is [string, string] => pair[1] !== null),
    );
    const { returnUrlTemplate: template } = saved;
    const returnUrl = template === undefined ? null : returnUrlOf(template, exampleOrder);
    return {
      page: brandingPage({ ...frame, form: stateOf(saved), returnUrl }),
      headers: { 'Content-Security-Policy': contentSecurityPolicy({ formAction: ["'self'"], frameSrc: ["'self'"] }) },
    };
  };
  const asSaved = (visit: Visit<'owner'>, errors: FormState['errors']): Promise<PageResult> =>
    shown(visit, (values) => ({ values, errors }));
  return [
    page({ path, audience: 'owner', show: (visit) => asSaved(visit, noErrors) }),
    form({
      path,
      audience: 'owner',
      fields: Profile,
      async act({ visitor: { appId }, fields: sent, by }) {
        // An emptied field is unset.
        const changed = await merchants.setProfile(appId, { ...noProfile, ...sent }, by);
        if (isRefusal(changed)) return changed;
        await readable(changed);
        return { to: appPaths(appId).branding, told: 'profileSaved' };
      },
      again: (visit, state) => shown(visit, () => state),
    }),
    form({
      path: `${path}/logo`,
      audience: 'owner',
      fields: noFields,
      file: { name: 'logo', max_bytes: pictureMax_bytes },
      async act({ visitor: { appId }, file, by }) {
        if (!file) return refuse('invalidRequest', 'is required: choose a picture', '/logo');
        const changed = await merchants.setLogo(appId, file.content, by);
        if (isRefusal(changed)) return { ...changed, pointer: '/logo' };
        await readable(changed);
        return { to: appPaths(appId).branding, told: 'logoSaved' };
      },
      again: (visit, { errors }) => asSaved(visit, errors),
    }),
    form({
      path: `${path}/logo/remove`,
      audience: 'owner',
      fields: noFields,
      async act({ visitor: { appId }, by }) {
        const changed = await merchants.setLogo(appId, null, by);
        if (isRefusal(changed)) return changed;
        await readable(changed);
        return { to: appPaths(appId).branding, told: 'logoRemoved' };
      },
      again: (visit, { errors }) => asSaved(visit, errors),
    }),
  ];
}

// The payment page of an example order with branding that is not saved yet, for a frame on the page of branding.

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
