// The language of a text by its script, and among those of one script by letters and function words: of the thirty languages that
// IFEval asks for. The authors ask langdetect, whose model is not here.

import { words } from './python-text.ts';

/** Scripts of one language each. */
const OF_SCRIPT = {
  ...{ ko: 'Hangul', th: 'Thai', he: 'Hebrew', bn: 'Bengali', ta: 'Tamil', te: 'Telugu', kn: 'Kannada' },
  ...{ ml: 'Malayalam', gu: 'Gujarati', pa: 'Gurmukhi', el: 'Greek', zh: 'Han' },
};
const SHARED = { latin: 'Latin', cyrillic: 'Cyrillic', arabic: 'Arabic', devanagari: 'Devanagari' };
const SCRIPTS = Object.entries({ ...OF_SCRIPT, ...SHARED, ja: 'Hiragana', kana: 'Katakana' }).map(
  ([name, script]) => [name, new RegExp(String.raw`\p{Script=${script}}`, 'gu')] as const,
);

/** Function words; each language has those that the others of its script do not. */
const FREQUENT: Readonly<Record<string, readonly (readonly [language: string, words: string])[]>> = {
  latin: [
    ['en', 'the and of to is in that it for you with are this be on as was not have or by from your we'],
    ['es', 'el los las en que es una por con para del se su al lo como más está son'],
    ['pt', 'os em que é um uma para com não do da dos das na ao mais são você seu'],
    ['fr', 'le les et des est une dans pour que qui sur pas vous nous il elle au du ce avec sont'],
    ['de', 'der die und das ist ein eine zu den mit nicht für auf sie ich wir von dem im sind'],
    ['it', 'il gli di che è una non del della sono più nel alla si come questo'],
    ['pl', 'na się nie jest do że jak dla są od ale być oraz przez tym'],
    ['vi', 'và của là không có được cho các một trong với người những này để đã tôi bạn'],
    ['sw', 'na ya wa kwa ni katika za la kuwa au hii yako cha wake lakini kama pia hiyo'],
    ['fi', 'ja on ei se että ovat oli mutta kun tai hän sen joka voi myös kuin ole olla minä sinun'],
    ['other', 'het een van niet och att det som är og på ikke af til ve bir bu için și este dan yang untuk'],
  ],
  devanagari: [
    ['hi', 'है हैं के में की का और को से यह एक नहीं पर ने लिए'],
    ['mr', 'आहे आहेत आणि हे या ते एक नाही च्या मध्ये साठी तर करा आपण'],
    ['ne', 'छ छन् र को मा यो गर्न लागि हो हुन्छ पनि तपाईं भएको गर्नुहोस्'],
  ],
};

const LETTERS: Readonly<Record<string, readonly (readonly [language: string, letters: RegExp, weight: number])[]>> = {
  cyrillic: [
    ['uk', /[іїєґ]/giu, 1],
    ['ru', /[ыэё]/giu, 2],
    ['bg', /[ъщ]/giu, 1],
  ],
  arabic: [
    ['ur', /[ٹڈڑںےہھ]/gu, 3],
    ['fa', /[پچژگکی]/gu, 1],
    ['ar', /[ةىيكأإ]/gu, 1],
  ],
};

/** Undefined for a text without letters; `other` for one of none of these languages. */
export function languageOf(text: string): string | undefined {
  const counts = SCRIPTS.map(([name, letter]) => [name, countOf(letter, text)] as const);
  const [script, most] = highest(counts);
  if (most === 0) return undefined;
  const kana = counts.find(([name]) => name === 'ja')![1];
  if (script === 'kana' || (script === 'zh' && kana * 10 > most)) return 'ja';
  const letters = LETTERS[script];
  if (letters) return highest(letters.map(([language, of, weight]) => [language, countOf(of, text) * weight]))[0];
  const frequent = FREQUENT[script];
  if (!frequent) return script;
  const said = script === 'devanagari' ? text.split(/[\s।,.]+/u) : words(text.toLowerCase());
  const [language, hits] = highest(
    frequent.map(([name, list]) => {
      const some = new Set(list.split(' '));
      return [name, said.filter((word) => some.has(word)).length];
    }),
  );
  return hits > 0 ? language : frequent[0]![0];
}

const countOf = (letter: RegExp, text: string): number => [...text.matchAll(letter)].length;
/** The first of those that are highest. */
const highest = (all: readonly (readonly [string, number])[]): readonly [string, number] =>
  all.reduce((best, one) => (one[1] > best[1] ? one : best));
