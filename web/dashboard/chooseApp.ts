/** The apps of a person, and registrations that wait for their proof. */
import type { VNode } from 'preact';
import type { Instant } from '../../domain/time.ts';
import { card, empty } from '../parts/boxes.ts';
import { linkButton, postButton } from '../parts/button.ts';
import type { AppName, Outer } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { outerPage } from '../parts/layout.ts';
import { appPaths, paths } from '../parts/paths.ts';
import { when } from '../parts/time.ts';

export interface ChooseAppModel extends Outer {
  readonly apps: readonly AppName[];
  /** Registered with the person's e-mail, by whoever knows it. */
  readonly pending: readonly {
    readonly appId: string;
    readonly displayName: string;
    readonly requestedAt: Instant;
    readonly expiresAt: Instant;
  }[];
  readonly registrationOpen: boolean;
}

export const chooseAppPage = (model: ChooseAppModel): VNode => {
  const { apps, pending } = model;
  const register = model.registrationOpen ? linkButton(paths.register, 'Register an app') : null;
  return outerPage(
    model,
    'Your apps',
    html`<div class="single">
      <div class="head"><div class="title"><h1>Your apps</h1></div><div class="controls">
      ${linkButton(paths.sessions, 'Sessions', 'quiet')}${apps.length > 0 && register}</div></div>
      ${
        apps.length === 0
          ? html`<section class="card">${empty(
              'You have no app yet',
              model.registrationOpen
                ? 'An app takes payments on one chain and is paid on another. Registering one takes a minute.'
                : 'Apps are registered by the operator of this service. Ask them to invite you.',
              register,
            )}</section>`
          : html`<ul class="card list">${apps.map(
              ({ appId, name }) =>
                html`<li><a class="go" href=${appPaths(appId).overview}><span class="mark" aria-hidden="true">
                  ${Array.from(name)[0]?.toUpperCase()}</span><span><strong>${bdi(name)}</strong><small class="muted">
                  ${appId}</small></span>${icon('forth')}</a></li>`,
            )}</ul>`
      }
      ${
        pending.length > 0 &&
        card(
          { title: 'Waiting for you', note: 'registered with your e-mail' },
          html`<div><ul class="list">${pending.map(
            ({ appId, displayName, requestedAt, expiresAt }) =>
              html`<li><div class="go"><span><strong>${bdi(displayName)}</strong><small class="muted">
                ${appId}, registered ${when(requestedAt)}, ends ${when(expiresAt)}</small></span>
                <span class="controls">${postButton(paths.discardPending(appId), 'Discard', 'quiet')}
                ${postButton(paths.confirmPending(appId), 'It is mine')}</span></div></li>`,
          )}</ul><p class="foot">Was it not you? Discard it: somebody else typed your address.</p></div>`,
        )
      }
    </div>`,
  );
};
