import { type PresetName, presetNames } from './presets.ts';

/**
 * Returns the weather of a sandbox: the option `--weather`, else the variable `WEATHER`, else calm.
 *
 * @throws Error for a name that is no preset
 */
export function chosenWeather(option: string | undefined, variable: string | undefined): PresetName {
  const wanted = option ?? (variable?.trim() || 'calm');
  const known = presetNames.find((name) => name === wanted);
  if (known) return known;
  throw new Error(`--weather ${wanted}: choose from ${presetNames.join(', ')}`);
}
