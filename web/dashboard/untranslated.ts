/** Pages whose content exists in English only. Their frame is translated. The list only shrinks. */
export const untranslated: readonly string[] = [
  '/dashboard/sessions',
  '/dashboard/invitations',
  ...[
    'reports/month',
    'embedding',
    'settlement',
    'pay-from',
    'policy',
    'branding',
    'notifications',
    'team',
    'audit',
  ].map((page) => `/dashboard/apps/{appId}/${page}`),
];

/** @param path of a page as declared, such as `/dashboard/apps/{appId}/keys`; pages below a listed one are listed too */
export const isTranslated = (path: string): boolean =>
  !untranslated.some((listed) => path === listed || path.startsWith(`${listed}/`));
