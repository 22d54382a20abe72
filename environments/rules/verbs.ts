// Whether a text may begin with a verb: common verbs, and words in -ing and -ed. The authors of IFBench ask NLTK's tagger, which looks
// at the words behind it too, and whose model is not here: verbs are missing that it takes for nouns there, such as `Draw`.

const VERBS = new Set(
  `accept accomplish achieve act adapt address adjust adopt agree allow analyze answer apologize appear apply approve are ask assess assume
  attend authorize avoid bake be became become began begin believe boil break bring build built buy calculate call came carry cave change
  characterize check choose chop chose classify clean click close combine come compare complete compose compute conduct connect consider
  continue cook cover create criticize cut decide define delve demonstrate describe design determine develop did discover discuss display dive
  do does drink drive driven eat embark embrace emphasize enable encourage engage enjoy ensure enter establish evaluate examine expand expect
  explain explore express extend extract fill find focus follow forget gain gather gave generate get give given go grab grow guess had happen
  have hear help hold identify ignore illustrate imagine implement impose improve include increase initialize insert install introduce invest
  is join justify keep knew know learn leave let list listen live look lose lost love made maintain make manage maximize measure meet minimize
  mix move navigate need observe obtain offer open optimize organize overcome participate pay perform pick place plan play please ponder
  prepare present preserve pretend prevent produce promote propose protect prove provide publish pull punish push put qualify raise reach read
  realize rebuild receive recognize recommend reduce refer reflect remain remake remember remind remove repeat replace require resolve respond
  reveal review rewrite run save saw say see seek seem seize select sell send serve set settle share show sing sit slice solve speak specify
  spend stand start state stay stir stop store strengthen study submit substitute take talk teach tell testify thank think tighten took train
  transform translate travel treat try turn understand unlock update use utilize vanish verify visit wait walk want was watch wear were wish
  witness wonder work write wrote`.split(/\s+/),
);
/** Nouns and the like in -ing and -ed. */
const OTHERS = new Set(
  'accounting advertising anything banking bed bring clothing during everything evening feed fed hundred indeed morning need nothing red ring seed sing something speed spring string thing united wedding wing'.split(
    ' ',
  ),
);

export function isVerb(word: string): boolean {
  const lower = word.toLowerCase();
  return VERBS.has(lower) || (/^[a-z]{2,}(?:ing|ed)$/.test(lower) && !OTHERS.has(lower));
}
