import { paths } from '../parts/paths.ts';

const own = /^\/dashboard(\/[\w~-][\w.~-]*)*\/?(\?[\w.~%=&+-]*)?$/;

/** Where to go after signing in: a page of the dashboard, never another site. Null for anything else. */
export const ownPath = (text: string | null | undefined): string | null => (text && own.test(text) ? text : null);

export const orHome = (text: string | null | undefined): string => ownPath(text) ?? paths.home;
