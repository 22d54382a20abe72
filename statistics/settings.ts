// The settings in which two runs differ, by name, as values of JSON.

export interface SettingDifference {
  readonly name: string;
  /** Undefined: the run has no such setting. */
  readonly a: unknown;
  readonly b: unknown;
}

type Settings = Readonly<Record<string, unknown>>;

export function settingDifferences(a: Settings, b: Settings): SettingDifference[] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return names.filter((name) => text(a[name]) !== text(b[name])).map((name) => ({ name, a: a[name], b: b[name] }));
}

/** Values come from JSON records: the same object has the same text up to the order of keys. */
function text(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([x], [y]) => (x < y ? -1 : 1)))
      : item,
  );
}
