/** Pages whose content exists in English only. Their frame, if any, is translated. The list only shrinks. */
export const untranslated: readonly string[] = [
  // A document to print or to keep, which the operator's command line makes too.
  '/dashboard/apps/{appId}/reports/month',
];

/** @param path of a page as declared, such as `/dashboard/apps/{appId}/keys`; pages below a listed one are listed too */
export const isTranslated = (path: string): boolean =>
  !untranslated.some((listed) => path === listed || path.startsWith(`${listed}/`));
