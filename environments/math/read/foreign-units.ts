// Units and counting words that stand behind a number in Chinese and Japanese: 5厘米 is 5 cm, 57个 and 4個です are numbers with a
// thing counted. What bounds or multiplies (以上, 多, 万) stands in no table and stays.

const UNITS: readonly (readonly [RegExp, string])[] = (
  [
    ['平方千米|平方公里', 'km^2'],
    ['平方厘米', 'cm^2'],
    ['平方分米', 'dm^2'],
    ['平方米', 'm^2'],
    ['立方厘米', 'cm^3'],
    ['立方分米', 'dm^3'],
    ['立方米', 'm^3'],
    ['千米|公里', 'km'],
    ['厘米', 'cm'],
    ['毫米', 'mm'],
    ['分米', 'dm'],
    ['千克|公斤', 'kg'],
    ['毫升', 'mL'],
    ['小时|時間', 'hours'],
    ['分钟', 'minutes'],
    ['米', 'm'],
    ['克', 'g'],
    ['吨', 'tons'],
    ['升', 'L'],
    ['秒', 'seconds'],
    ['天|日', 'days'],
    ['元', 'yuan'],
    ['円', 'yen'],
    ['度', 'degrees'],
  ] as const
).map(([name, unit]) => [
  new RegExp(`(?<=[\\d})$]\\s?(?:\\\\text\\s*\\{\\s*)?)(?:${name})(?![\\p{Script=Han}])`, 'gu'),
  ` ${unit}`,
]);

/** A counting word, with the thing that is counted: no sign of a bound, a share or a factor may stand in it. */
const COUNTED =
  /(?<=[\d})$]\s?(?:\\text\s*\{\s*)?)(?:[个個只隻条張张本件块塊人名次种種辆輛棵位頭头朵颗枚支枝道页頁组組对對双份间間台匹艘架座把根片场層层岁歳年]|平方(?!米|厘|分|千|公))(?:(?![不以上下多余左右百千万亿分点倍半至少每])[\p{Script=Han}]){0,6}/gu;
const POLITE = /(?:です|である|だ)?[。.\s]*(?=[\s}$]*$)/u;

export function withoutForeignUnits(text: string): string {
  if (!/[\p{Script=Han}\p{Script=Hiragana}]/u.test(text)) return text;
  const plain = text.replace(POLITE, '');
  return UNITS.reduce((out, [form, unit]) => out.replace(form, unit), plain).replace(COUNTED, '');
}
