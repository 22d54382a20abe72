// Whether a word has an odd number of syllables, as syllapy 0.7.2 (MIT) counts them, which the authors of IFBench ask: groups of
// vowels, but for the words that its dictionary counts otherwise.

const OTHERWISE = new Set(
  `absolutely achieved achievement acquired actual actually added addressed adobe advanced advertisement affiliate aged agree agricultural aisle alleged
  alliance allowed anime announced announcement annual antonio anxiety anyone apache apparently appliances applying appreciate appreciation appropriate
  approved area argue armed arrangement arrived asked associate association assumed attached audience audio austria authorized avenue aviation awareness
  awesome babes bacteria balanced barely barrier baseball based basement behavioral being believed believes besides bestiality beyond bias bibliography
  bigger biggest biography biological biology bombing brian bulgaria business businesses businessman buyer buying bytes cached cafe called canadian
  captured careful caribbean carrier carrying casual casualty caused centre centres champion championship changed changing chaos charged charles charlie
  checked chile christianity cleveland client closed closest clothes coalition codes coffee colombia colonial columbia combined comes committee compared
  compiled compliance composed concerned confirmed considered consistently constantly contained continue continuous controlled convened convinced cookie
  cooperate cooperation cooperative coordinate coordinator correctly covered create created creating creation creative creativity creator criteria cruel
  curiosity curious customized dancing dates declared defender defined definitely degree denial depending depressed derived described designed desired
  detailed determined developed developmental diabetes diagnose diagnosis diagram dial dialogue diameter diary diego diet differently dining disagree
  discovered discussed doing drives driveway dropped dual dying earned easier ecological editorial elsewhere embarrassed emotionally employees employer
  employers encouraged encouraging encyclopedia enforcement engaged engagement enhanced enthusiasm entirely environmental equipped essentially
  established estimated european evaluate evaluation evening eventually every everybody everyday everything everywhere excitement exclaimed existing
  expected experience experiences exposed extremely failed falsehood falsehoods fastened faster featured february filed files filled finished firefox
  fireplace firewall firmly fixed fluid flying focused forced forecast forehead formed framed frames framework fucked fuel funding games gateway genes
  genre genuine geographic geography getting giant gives giving gloves going grabbed grades graduate graduation grateful greatest guarantee guardian
  guideline guides happened harder having hawaii helped higher highest historian historically holes homeland homeless homes homework hopefully household
  html http idea ideal ideas identifying ideological ideology ieee immediate importantly improved improvement including increased increasingly india
  indian indiana individual individuals induced industrial influence influential informed ingredient initially initiate initiative inspired installed
  instructional intellectual interior intermediate introduced invented investigator investor involved iowa ireland ironically islamic israel issue
  jacksonville james january joined jokes jones jose killed korea korean lakes largely larger largest lately launched layer layers layout learned leaves
  legally lesbian liability liable licensed lifestyle lifetime liked likelihood likely likewise linear lines lingerie linked lion listener lived lives
  logged lonely longer looked louis loved lovely loves loyal loyalty lying machines makes managed management managing manual manufacturing maria marie
  marked material materials maybe mayor measured measurement media median medium melted memorabilia memorial merely miami michelle miles milwaukee
  minneapolis misc miscellaneous missed mixed modes montreal moved movement moves movie mpeg multimedia museum mutual mysql mysterious named names
  nashville ncaa nearer nearest negotiate negotiation nike nodded nodes nominee nonetheless notebook notes noticed nuclear nutrient observed obvious
  occurred offender officially ohio ones ongoing ontario opened openly opposed ordered organizational organized orientation ourselves oversee owned
  palestinian partially passed paying peaceful perceived performer period personalized philadelphia philippines phones piano picked pictured pierre
  pioneer pipeline placed placement planned plates player playing pleased poem poems poet poetry policeman politically portfolio powered preferred
  premium prepared previous priced printed prior priorities priority processing produced programmes progressed promised properly proposed purchased
  pursuant pursue putting quiet quotes radiation radio raised rapidly rarely rates reached react reaction real realistic reality realize really received
  recently recipe recipient recognized reconcile reconciliation recreation redeemed reduced referred refugee refused registered rehabilitation reinforce
  relatively released reliability reliable remaining removed repeatedly replaced replacement reporting required requirement requirements rescue
  researcher reserved respectively retailer retired retirement revenue revised riot ritual roles romania roughly royal rubbed ruin rules ryan safety
  sales samuel satellites saved saying scared scenario scenes scheduled science sciences scientific scientist scientists scores screeched sealed seattle
  secured seeing seemed seemingly selected serial serious seriously served serves sexual sexuality shared shareholder shares shareware sharply shaved
  shinning shipped shooting showed sides sidewalk sierra signed significantly similarly sites situation sized skiing skilled slightly slipped smaller
  smallest socially society sodium softly solely somebody someday somehow something sometime somewhat somewhere soviet specials spending spiritual
  spokesman stadium stared starting statement statements states statue steadily stepped stereo stereotype stones stopped stored stores stronger studio
  studios styles substantially successfully suddenly suicide suites superior supposed surely surprised surprisingly surrounded takes tales taxpayer
  tennessee testing theater themes themselves theological theology theoretical theory thereby therefore tightly times tired tissue tokyo tones tracked
  trademark trading traditionally trained transferred treated trial triangle triumph trying turned tutorial twentieth types typically undergraduate
  underlying unlikely unusual used useful using usual vacuum valuable value variable variation variety various venue via viagra victoria video vietnam
  viewed violate violation violence violent virtual virtually virtue visual voip votes voting voyage voyeur wales warehouse warrior waves wednesday
  whispered whoever wholesale widely widespread willingness wireless worked wrapped writes wyoming xbox`.split(/\s+/),
);

/** In small letters, without punctuation. */
export function hasOddSyllables(word: string): boolean {
  if (/\p{Nd}/u.test(word)) return false;
  const silent = word.endsWith('e') && !/[^aeiouy]le$/.test(word) ? 1 : 0;
  const count = Math.max(1, (word.match(/[aeiouy]+/g) ?? []).length - silent);
  return (count % 2 === 1) !== OTHERWISE.has(word);
}
