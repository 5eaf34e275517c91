import { heads } from '../../domain/heads/heads.ts';
import { categories } from '../../domain/streams.ts';

/** Whose streams heads of this version cover: all but the heads themselves, which hold together by their own hashes. Each head names its own. */
export const coveredCategories: readonly string[] = categories.filter((name) => name !== heads.category).sort();
