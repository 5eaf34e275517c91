/** Picture types accepted for logos. */
export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
export const pictureMax_bytes = 5_000_000;
