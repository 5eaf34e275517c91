/** Sites that may frame payment pages, and the snippet for theirs. POST: sites, one per line. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import type { SettingsReads } from '../../src/api/routes/settings.ts';
import { card, inside } from '../parts/boxes.ts';
import { codeWord } from '../parts/cells.ts';
import { copyButton, emptyForm, type FormState, linesField, problems, submit } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { fields, lines } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';

export interface EmbeddingModel extends Frame {
  readonly sites: readonly string[];
  /** Public URL of the service, without a trailing slash. */
  readonly publicUrl: string;
  /** Field: sites. */
  readonly form: FormState;
}

export const embeddingPage = (model: EmbeddingModel): VNode => {
  const { app, sites, form, publicUrl } = model;
  const filled = Object.keys(form.errors).length > 0 ? form : { ...form, values: { sites: sites.join('\n') } };
  const snippet = snippetFor(publicUrl);
  return appPage(
    model,
    { title: sayText('embedding'), section: 'embedding' },
    html`<div class="halves">
      ${card(
        { title: sayText('sitesTitle') },
        html`<form class="inside" method="post" action=${appPaths(app.appId).embedding}>
          ${problems(form)}
          <p class="muted">${sayContent('sitesText')}</p>
          ${linesField({
            form: filled,
            name: 'sites',
            label: sayText('sites'),
            optional: true,
            rows: 5,
            maxlength: 4_000,
            placeholder: 'https://shop.example',
            hint: sayContent('sitesHint'),
          })}
          ${submit(sayContent('save'))}
        </form>`,
      )}
      ${card(
        { title: sayText('onYourSite'), controls: copyButton(snippet, sayText('snippet')) },
        inside(html`<div class="rows">
          <p class="muted">${sayContent('snippetText', { paymentLink: codeWord('paymentLink') })}</p>
          <pre class="code" dir="ltr" tabindex="0">${snippet}</pre>
          <p class="muted">${sayContent('snippetEvents', { payment: codeWord('payment') })}</p>
        </div>`),
      )}
    </div>`,
  );
};

/** As in docs/integrate/embedding.md. */
export const snippetFor = (publicUrl: string): string =>
  [
    `<a href="${publicUrl}/pay/…" data-payment>Pay with stablecoins</a>`,
    `<script type="module" src="${publicUrl}/embed.js"></script>`,
  ].join('\n');

// Sites that may frame an app's payment pages.

/** Needs of the pages of embedding. */
export interface EmbeddingPagesDeps extends Pick<SettingsReads, 'getSettings'>, InForce {
  readonly merchants: Pick<ManageMerchant, 'setEmbeddingSites'>;
  readonly publicUrl: () => string;
}

const path = '/dashboard/apps/{appId}/embedding';

/** The command checks each one. */
const Sites = fields({ sites: Type.Optional(lines(4_000)) });

export function embeddingPages(deps: EmbeddingPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, getSettings, shown: readable, publicUrl } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<PageResult> => {
    const [frame, settings] = await Promise.all([frames.ofApp(visit), getSettings(visit.visitor.appId)]);
    const sites = settings?.embeddingSites ?? [];
    return { page: embeddingPage({ ...frame, sites, publicUrl: publicUrl(), form: state }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: Sites,
      async act({ visitor: { appId }, fields: { sites = '' }, by }) {
        const stated = sites.split(/[\s,]+/).filter((site) => site !== '');
        const changed = await merchants.setEmbeddingSites(appId, stated, by);
        if (isRefusal(changed)) return namingSite(changed, stated);
        await readable(changed);
        return { to: appPaths(appId).embedding, told: 'sitesSaved' };
      },
      again: shown,
    }),
  ];
}

/** The form has one field for all sites: the message names the site. */
function namingSite<R extends { readonly message: string; readonly pointer?: string | undefined }>(
  refusal: R,
  sites: readonly string[],
): R {
  const place = /^\/sites\/(\d+)$/.exec(refusal.pointer ?? '')?.[1];
  const named = place === undefined ? '' : `The site ${sites[Number(place)]?.slice(0, 100)}`;
  return { ...refusal, pointer: '/sites', message: named + refusal.message.replace(/^\/sites(\/\d+)?/, '') };
}
