/** Where webhooks go, their secret, what was sent. POST to webhookUrl: webhookUrl. */
import type { VNode } from 'preact';
import type { Instant } from '../../domain/time.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import { card, empty, inside, pairs } from '../parts/boxes.ts';
import { linkButton, postButton, submit } from '../parts/button.ts';
import { problems, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { pager } from '../parts/pager.ts';
import { appPaths } from '../parts/paths.ts';
import { copyable, secretOnce } from '../parts/secret.ts';
import { when } from '../parts/time.ts';
import { deliveryTable } from './deliveryTable.ts';

export interface WebhooksModel extends Frame {
  readonly webhookUrl: string | null;
  readonly fingerprint: string | null;
  readonly rotatedAt: Instant | null;
  /** Field: webhookUrl. */
  readonly form: FormState;
  /** Right after it was made, and never again. */
  readonly newSecret: string | null;
  /** Newest first. */
  readonly deliveries: readonly Delivery[];
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}

const adviceOnSecret =
  'Webhooks are signed with it from now on; the old secret is worth nothing any more. Put it on your server now.';

export const webhooksPage = (model: WebhooksModel): VNode => {
  const { app, webhookUrl, newSecret, deliveries, cursor, nextCursor } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    { title: 'Webhooks', section: 'webhooks', live: deliveries.length > 0 ? 'The list of webhooks has changed' : '' },
    html`<div class="stack">
      ${newSecret !== null && secretOnce('New webhook secret', newSecret, adviceOnSecret)}
      <div class="halves">
        ${card({ title: 'Where they go' }, urlForm(model))}
        ${card({ title: 'Secret', controls: linkButton(to.rotateSecret, 'Rotate…') }, inside(secretFacts(model)))}
      </div>
      ${card(
        {
          title: 'Recent deliveries',
          note: 'each is sent once, never again by itself',
          live: 'deliveries',
          controls: webhookUrl !== null && postButton(to.testWebhook, 'Send a test'),
        },
        deliveries.length > 0
          ? html`<div>${deliveryTable(app.appId, deliveries)}${pager({ path: to.webhooks, cursor, nextCursor })}</div>`
          : empty(
              'Nothing was sent yet',
              webhookUrl === null
                ? 'Set a URL first. Then your server is told when a payment has arrived, and when it was paid out.'
                : 'Send a test to see whether your server takes webhooks and finds the signature right.',
            ),
      )}
    </div>`,
  );
};

const urlForm = ({ app, webhookUrl, form }: WebhooksModel): VNode => {
  const to = appPaths(app.appId);
  const shown = form.values['webhookUrl'] === undefined ? { ...form, values: { webhookUrl: webhookUrl ?? '' } } : form;
  return html`<form class="inside" method="post" action=${to.webhookUrl}>
    ${problems(form)}
    ${textField({
      form: shown,
      name: 'webhookUrl',
      label: 'URL of your server',
      type: 'url',
      inputmode: 'url',
      maxlength: 2048,
      placeholder: 'https://shop.example/webhooks',
      hint: 'Payments keep the URL that they were created with: a new one is for new payments.',
    })}
    <div class="controls">${submit('Save')}${webhookUrl !== null && linkButton(to.removeWebhook, 'Remove…', 'quiet')}
    </div>
  </form>`;
};

const secretFacts = ({ fingerprint, rotatedAt }: WebhooksModel): VNode =>
  html`<div class="rows">
    <p class="muted">Every webhook is signed. Your server checks the signature with the secret, so that nobody else
    can tell it that something was paid.</p>
    ${pairs([
      fingerprint === null
        ? null
        : ['Fingerprint', copyable(html`<span class="mono">${fingerprint}</span>`, fingerprint, 'Fingerprint')],
      ['Made', rotatedAt === null ? 'at registration' : when(rotatedAt)],
    ])}
  </div>`;
