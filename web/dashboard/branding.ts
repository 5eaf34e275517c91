/** Payers' view of the app. POST: name, supportContact, returnUrlTemplate, colour. POST to logo: a file named logo. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import { isRefusal, refuse } from '../../domain/decider.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import type { SettingsReads } from '../../src/api/routes/settings.ts';
import { pictureMax_bytes } from '../../src/images/accepted.ts';
import { card, inside } from '../parts/boxes.ts';
import { colourHex, contrast, inkOn, readableOn, readColour } from '../parts/colour.ts';
import { type FormState, fileField, postButton, problems, submit, textField } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { cut, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { entry, fields, noFields } from './forms.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, type PageResult, page, type Visit } from './page.ts';

export interface BrandingModel extends Frame {
  /** Fields: name, supportContact, returnUrlTemplate, colour (#rrggbb), logo. */
  readonly form: FormState;
}

const standardColour = '#0a5c48';

export const brandingPage = (model: BrandingModel): VNode => {
  const { app, form, logoUrl } = model;
  const to = appPaths(app.appId);
  const remove = logoUrl !== null && postButton(to.removeLogo, 'Remove', 'quiet');
  const colour = form.values['colour'] || standardColour;
  return appPage(
    model,
    { title: 'Branding', section: 'branding' },
    html`<div class="halves">
      ${card(
        { title: 'What payers see' },
        html`<form class="inside" method="post" action=${to.branding}>
          ${problems({
            ...form,
            errors: Object.fromEntries(Object.entries(form.errors).filter(([name]) => name !== 'logo')),
          })}
          ${textField({
            form,
            name: 'name',
            label: 'Name',
            optional: true,
            autocomplete: 'organization',
            maxlength: 80,
          })}
          ${textField({
            form,
            name: 'supportContact',
            label: 'Support contact',
            optional: true,
            maxlength: 254,
            placeholder: 'help@shop.example',
            hint: 'Where payers get help: an e-mail address or an https page.',
          })}
          ${textField({
            form,
            name: 'returnUrlTemplate',
            label: 'Return URL',
            type: 'text',
            inputmode: 'url',
            optional: true,
            mono: true,
            maxlength: 2048,
            placeholder: 'https://shop.example/orders/{orderId}',
            hint: html`<span>The https page that payers return to. <code>{orderId}</code>, <code>{paymentId}</code> and <code>{status}
              </code> are filled in.</span>`,
          })}
          ${textField({
            form,
            name: 'colour',
            label: 'Colour',
            optional: true,
            mono: true,
            maxlength: 7,
            pattern: '#[0-9a-fA-F]{6}',
            placeholder: '#0a5c48',
            hint: 'As #rrggbb. Used on buttons; made readable whatever it is.',
          })}
          ${submit('Save')}
        </form>`,
      )}
      <div class="stack">
        ${card({ title: 'Logo', controls: remove }, logoForm(model))}
        ${card({ title: 'How the colour looks', note: 'as last saved' }, inside(preview(colour, form.values['name'] || app.name)))}
      </div>
    </div>`,
  );
};

const logoForm = ({ app, form, logoUrl }: BrandingModel): VNode =>
  html`<form class="inside" method="post" action=${appPaths(app.appId).logo} enctype="multipart/form-data">
    ${logoUrl !== null && html`<img class="logo" src=${logoUrl} alt="The logo as payers see it" width="96" height="96" />`}
    ${fileField({
      form,
      name: 'logo',
      label: logoUrl === null ? 'A picture' : 'Another picture',
      accept: 'image/png,image/jpeg,image/webp',
      hint: 'PNG, JPEG or WebP, up to 100 kB; square ones look best. It is drawn anew, so nothing hidden in the file stays in it.',
    })}
    ${submit('Upload', 'plain')}
  </form>`;

const grounds = [
  { name: 'by day', paper: '#f7f6f3', surface: '#ffffff', ink: '#17181c' },
  { name: 'by night', paper: '#0f1012', surface: '#17191c', ink: '#f1efea' },
] as const;

/** A button and an address on both backgrounds. An SVG, because a page may set no style of its own. */
function preview(text: string, name: string): VNode {
  const colour = readColour(text) ?? readColour(standardColour) ?? [];
  return html`<div class="rows">${grounds.map(({ name: ground, paper, surface, ink }) => {
    const accent = readableOn(readColour(surface) ?? [], colour);
    const on = inkOn(accent);
    const same = colourHex(accent) === colourHex(colour);
    return html`<figure class="preview">
      <svg viewBox="0 0 320 132" role="img" aria-label=${`A payment page ${ground}, with a button in ${colourHex(accent)}`}>
        <rect width="320" height="132" rx="12" fill=${paper} />
        <rect x="16" y="14" width="288" height="104" rx="10" fill=${surface} />
        <rect x="30" y="28" width="22" height="22" rx="6" fill=${colourHex(accent)} />
        <text x="41" y="44" text-anchor="middle" class="strong" fill=${colourHex(on)}>
        ${Array.from(name)[0]?.toUpperCase()}</text>
        <text x="62" y="44" class="strong" fill=${ink}>${cut(name, 24)}</text>
        <rect x="30" y="64" width="260" height="38" rx="9" fill=${colourHex(accent)} />
        <text x="160" y="88" text-anchor="middle" class="strong" fill=${colourHex(on)}>Open in wallet</text>
      </svg>
      <figcaption class="small muted">${ground}: <span class="mono">${colourHex(accent)}</span>
      ${same ? ', as given' : ', a little changed so that it can be read'}; text on
      it ${contrast(accent, on).toFixed(1)} : 1</figcaption>
    </figure>`;
  })}</div>`;
}

// Branding for payers.

/** Needs of the pages of branding. */
export interface BrandingPagesDeps extends Pick<SettingsReads, 'getSettings'>, InForce {
  readonly merchants: Pick<ManageMerchant, 'setProfile' | 'setLogo'>;
}

const path = '/dashboard/apps/{appId}/branding';
const noErrors = {};

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
  const shown = async (visit: Visit<'owner'>, form: FormState): Promise<PageResult> => ({
    page: brandingPage({ ...(await frames.ofApp(visit)), form }),
  });
  const asSaved = async (visit: Visit<'owner'>, errors: FormState['errors']): Promise<PageResult> => {
    const { logo: _, ...profile } = (await getSettings(visit.visitor.appId))?.profile ?? { logo: null };
    const saved = Object.entries(profile).filter((pair): pair is [string, string] => pair[1] !== null);
    return shown(visit, { values: Object.fromEntries(saved), errors });
  };
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
      again: shown,
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
