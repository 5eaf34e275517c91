/** The apps of a person, and registrations that wait for their proof. */
import type { VNode } from 'preact';
import type { Instant } from '../../domain/time.ts';
import type { AppName, Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface ChooseAppModel extends Outer {
  readonly apps: readonly AppName[];
  readonly pending: readonly (AppName & { readonly createdAt: Instant; readonly expiresAt: Instant })[];
  readonly registrationOpen: boolean;
}

export const chooseAppPage = (model: ChooseAppModel): VNode =>
  html`<html lang="en"><head><title>chooseApp</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
