/** Webhooks as rows, newest first. */
import type { VNode } from 'preact';
import type { Instant } from '../../domain/time.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import { deliveryChip } from '../parts/boxes.ts';
import { newsOf, silenceOf, when } from '../parts/cells.ts';
import { bdi, cut, html } from '../parts/html.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { type Column, table } from '../parts/table.ts';

const columns = (): readonly Column[] => [
  { head: sayText('webhookColumn'), kind: 'title' },
  { head: sayText('state'), kind: 'chip' },
  { head: sayText('answer'), kind: 'note' },
  { head: sayText('when'), kind: 'when', sorted: 'descending' },
];

export const deliveryTable = (appId: string, deliveries: readonly Delivery[]): VNode =>
  table(
    sayText('webhooksNewestFirst'),
    columns(),
    deliveries.map((delivery) => [
      html`<span><strong><a href=${appPaths(appId).delivery(delivery.deliveryId)}>${newsOf(delivery.eventType)}</a>
        </strong>${delivery.kind === 'manual' && sayContent('wasSentAgain')}<small class="below mono">${delivery.eventType}${
          delivery.endpointId !== null && sayContent('toEndpoint', { url: hostAndPath(delivery.url) })
        }
        </small></span>`,
      deliveryChip(delivery),
      answerOf(delivery),
      when((delivery.deliveredAt ?? delivery.startedAt) as Instant),
    ]),
  );

/** A query can contain a password. */
const hostAndPath = (url: string): string => (URL.canParse(url) ? new URL(url).host + new URL(url).pathname : url);

const answerOf = ({ responsePreview, error }: Delivery): VNode | null => {
  if (error !== null && error !== 'unknown') return html`<span class="muted">${silenceOf(error)}</span>`;
  return responsePreview ? html`<span class="mono">${bdi(cut(responsePreview, 80))}</span>` : null;
};
