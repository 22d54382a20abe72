// The words of a sentence that states an answer. Tables only: what stands in none of them is not accounted for.

import { lemma } from './contrasts.ts';
import { isHarmless } from './harmless-words.ts';
import { isUnitWord } from './unit-words.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter(Boolean));

/** Lead from reasoning to "the answer": beside "answer" or "solution" nothing else may stand. */
const LEAD = words(`
  so then thus therefore hence and now finally consequently accordingly thereby overall altogether ultimately lastly
  the a an this that these those our my its it we i you us one is are was be being been has have had to as of for in by on at
  answer answers ans solution solutions result results final correct right exact numerical numeric simplified required desired requested
  complete overall short full following total only sole unique value number question problem puzzle exercise task equation
  original given your here above below conclude concludes conclude conclusion conclusively follows follow get gets obtain obtained find
  found see know think believe means mean gives give giving shows show implies confirm verified verify confirms
  state write report provide present box boxed summary short simply just exactly precisely indeed clearly evidently
  rounded simplest form option choice letter must should will can equals equal summarise summarize all both together
  calculation calculations computation steps work reasoning analysis from with based using after
  computed calculated determined identified yields yield yielding arrive arrived arrives reach reached leads leading lead
  correctly i'm am confident sure set sets options choices system systems choose select selected pick chosen statement best matches corresponding corresponds
  approximately about roughly let's let me which where there into it's that's here's we've we're nearest according logic`);

/** Verbs of word problems: what stands behind them is had, paid, made. */
const VERBS = words(`
  gives gave give given makes made make takes took take needs need needed requires required buys bought buy sells sold sell earns earned
  earn spends spent spend pays paid pay costs cost saves saved save eats ate eat eaten drinks drank drink bakes baked bake cooks cooked cook
  reads read writes wrote written write walks walked walk runs ran run drives drove drive travels traveled travelled travel rides rode
  ride collects collected collect picks picked pick plants planted plant grows grew grow receives received receive finds found find
  keeps kept keep uses works worked work contains contained contain holds held hold weighs weighed weigh measures measured
  produces produced produce scores scored score wins won win loses lost lose plays played play sleeps slept sleep finishes finished
  finish starts started start ends ended begins began leaves left leave remains remained remain becomes became become totals equals
  adds added comes came goes went go counts counted charges charged charge owes owed owe shares shared donates donated delivers
  delivered catches caught lays laid fills filled cuts cut builds built paints painted raises raised invests invested lives lived
  watches watched brings brought sees saw swims swam jumps covers covered cover completes completed complete solves solved arrives
  arrived arrive reaches reached gains gained carries carried orders ordered rents rented sends sent attends attended passes passed
  yields yielded yield simplifies evaluates occurs lasts lasted consumes consumed serves served stands departs returns returned gets got
  get has have had obtains obtained obtain seats seated pass meets meet meeting departs opens closes there're weighs feeds fed`);

/** Other small words of such sentences. */
const COMMON = words(`
  he she they him her them his their who whose what how many much some any other another same such also already still even
  up out off down through between among along around about across against per via until till while when where which than
  as twice half double triple proof but because since or if either each every both few several more did do does will can must should
  simplify simplifying computing compute calculating calculate calculated substituting solving adding multiplying dividing subtracting
  taking using combining summing getting giving determine determined minimize maximize maximized minimized achieved attained
  first second third last next previous initial initially original originally new old current currently true real actual whole entire
  full complete single common greatest lowest highest least most mean modal slope intercept hypotenuse leg base remainder quotient
  product difference dividend denominator numerator coefficient exponent power logarithm determinant rank trace eigenvalue limit
  derivative integral norm magnitude length distance velocity acceleration force energy mass density pressure temperature voltage
  current resistance frequency wavelength charge momentum concentration moles molarity percent percentage capacity interest discount
  tax tip bill balance payment salary wage income savings earnings money cents dollars times hours minutes day days week weeks month
  months year years today morning afternoon evening arrange arranging choose choosing form forming ways foci focus radius center
  centre circle ellipse available necessary individually feet foot taller shorter older younger faster slower heavier longer
  earlier later late early ahead missing thick thin sum sums satisfying satisfies satisfy desired wanted expected asked sought note
  eventually similarly together claimed shown proof side everything everyone inches square cubic natural positive negative odd even
  prime complex sequences series terms graph lines curve plane sphere cone cylinder pyramid hexagon pentagon octagon parallelogram
  rhombus trapezoid prism tetrahedron chord arc sector tangent bisector median altitude diagonal known know call denote function
  date capital hypotenuse intersection coordinates coordinate polar complement population increase decrease percent fair lateral surface division circumradius inradius
  circumference incircle circumcircle apothem vertex edge face tension current resistance work impulse torque accelerations expression binomial
  constant leading variance deviation covariance median quartile percentile entropy rate ratio proportion scale frequency period amplitude
  phase wavelength exponent base logarithm root roots zero zeros discriminant asymptote vertex axis origin quadrant gradient divergence curl residue
  order index degree genus dimension kernel image cardinality supremum infimum extremum optimum minimum maximum upper part real imaginary modulus
  argument conjugate inverse reciprocal transpose adjoint cofactor permutation permutations combination combinations arrangements outcome outcomes
  parallel closed open interval notation once twice greater larger smaller bigger reading gcd lcm hcf divisor multiple quotients remainders digit digits sides angles lengths heights values
  inside outside strictly matrix vector ring field condition conditions constraint constraints requirement requirements equations inequality divisible
  integer integers inclusive general explicit enclosed combined`);

const LINK_WORDS = words(
  'is are was were be been being equals equal = : lautet ist est es è é son sind beträgt равен равна равно',
);
/** Of a sentence, not of a thing in it: what follows is denied, doubted, supposed or attributed to somebody. */
const DENYING = words(`
  not no never neither nor nobody none cannot can't wrong incorrect false untrue invalid mistaken impossible excluded doubt doubtful
  maybe perhaps possibly probably likely unlikely might may could suppose supposing assume assuming guess guessing if unless whether
  except without hardly barely scarcely rarely seldom fails fail fake nowhere nothing pretend imagine hypothetically supposedly
  allegedly reject rejects rejected rejecting exclude excludes excluding eliminate eliminates eliminating discard discards discarded discarding
  dismiss contradict contradicts contradicting disprove disproved disproves refute refuted refutes deny denied avoid
  mistake error misled tempting tempted trap decoy distractor pitfall naive wrongly falsely incorrectly erroneously contrary
  exceed exceeds lack lacks lacked differs differ different unequal approach approaches example format placeholder template
  nicht kein keine pas non ne не ни нет nunca jamais jamás nie niemals kaum falsch faux falso неверно
  claims claimed says said thinks thought believes believed`);
/** The syntax of denial, which may also describe a thing: "numbers that are not prime". */
const NEGATIONS = words(`
  not no never neither nor nobody none cannot can't without except unless nothing nowhere hardly barely scarcely rarely seldom
  nicht kein keine pas non ne не ни нет nunca jamais jamás nie niemals`);
/** Say of something that it is wrong, doubtful, somebody's word or only supposed, wherever in a sentence they stand. */
const FAULTS = words(`
  sorry hmm hm oops
  wrong incorrect false untrue invalid mistaken mistake mistakes impossible excluded doubt doubtful maybe perhaps possibly probably
  unlikely guess guessing guesswork fails failed fail fake pretend imagine hypothetically supposedly allegedly reject rejects rejected
  rejecting discard discards discarded dismiss dismissed contradict contradicts contradicting contradiction disprove disproved disproves
  refute refuted refutes deny denied error errors misled tempting tempted trap decoy distractor pitfall naive wrongly falsely incorrectly
  erroneously erroneous contrary placeholder template falsch faux falso неверно sagt behauptet meint dice dit говорит утверждает claims claimed says said thinks thought believes
  believed faulty flawed bogus spurious sloppy careless hasty broken defective corrupt corrupted bug typo typed misread
  miscounted miscalculated overlooked forgot forgotten forgetting omitted neglected lie lied joke joking kidding sarcasm
  fiction nonsense absurd rubbish void retract retracted withdrawn withdraw disregard ignore cancel scrap meaningless dummy
  unfinished partial intermediate incomplete irrelevant superseded outdated obsolete insufficient inadequate unverified unproven dubious suspicious`);
/** Steps of a proof by contradiction: in a premise they are no fault. */
export const DEDUCING = words(
  'impossible contradict contradicts contradicting contradiction fail fails failed reject rejected excluded discard discarded absurd false',
);
/** Of things of which there are several: without the question nobody knows which is meant. */
const OTHERS = words(`
  other another previous old former earlier initial original initially originally alternative wanted hypothetical`);
/** Pronouns and nouns that speak of the answer or of the text. */
export const ABOUT = words(`
  it this that these those one ones they them its i my me we you your don't do please
  opposite truth answer answers result results value values number total count sum box boxed solution claim proof argument above below
  former latter statement statements sentence line question problem task reasoning calculation computation derivation check sanity
  see elsewhere grader teacher reference output response text estimate bound everything nothing
  but however yet still though although instead actually really rather otherwise alternatively`);
/** Leave the answer open: something is missing, wanted or still to be done. */
export const OPEN_ENDED = words(`
  missing left out more another else remaining remain remains next still yet however but though although instead rather actually
  really wanted asked sought must should need needs have has ought would could might may test format real true finish finally better
  twice only except half opposite bigger smaller greater larger double doubled needed again`);
/** Computing verbs in the form of an order or a plan. */
export const WORKING = words(`
  add adding subtract subtracting multiply multiplying divide dividing double doubling halve halving square squaring triple tripling
  remove removing deduct deducting discard discarding times root take taking apply replace replacing round rounding make`);
/** Words of reasons, checks and theorems. */
export const PREMISE = words(`
  symmetry symmetric conclusion definition theorem lemma formula formulas identity inequality substitution substituting plugging
  elimination factoring expanding simplifying verification verifying verify verified check checks checked checking confirm confirms
  confirming matches match matching agrees agree agreeing satisfies satisfied consistent hold holds holding back explanation recall
  indeed equality assumption hypothesis principle property properties rule law fact facts induction similar similarity congruent
  demands demand matters matter bisect bisects each fact generating derive derived triple pythagorean quadratic discriminant explain shows showing completes complete original result idea key here note
  sense reasonable plausible whole mean means used uses use using works work required expected desired`);
/** Open a clause that holds only where it is fulfilled. */
export const CONDITION = words(`for when if whenever where under assuming supposing provided only`);
/** Open a clause that may name another place than the question's. */
export const PLACES = words(`in on at with under among within`);
/** Leave something out. */
export const IGNORING = words(`
  ignoring neglecting disregarding forgetting dropping relaxing pretending skipping omitting overlooking excluding
  imagining disregard without avoiding`);
export const isNegation = (word: string): boolean => NEGATIONS.has(word) || /n[’']t$/.test(word);
export const isFault = (word: string): boolean => FAULTS.has(word) || /^mis(?!s)\p{L}{3,}$/u.test(word);
/** Make another quantity of one; where the question is known, it has to ask for that. */
const TRANSFORMS = words(
  'twice half thrice double complement reciprocal inverse subtotal empty perpendicular composite runner negative',
);
export const isTransform = (word: string): boolean => TRANSFORMS.has(word);
export const isOther = (word: string): boolean => OTHERS.has(word);
/** Verbs of finding and writing: their subject is we, or a formula. */
const FINDING = words(`
  gives gave give given finds found find obtains obtained obtain gets reads read writes wrote written write counts counted yields yielded
  yield evaluates shows sees saw measures measured`);
export const finds = (word: string): boolean => FINDING.has(word);

/** Names of parts of the text itself, which a number may label. */
const META =
  words(`question questions problem problems part parts step steps page lemma theorem case figure table section chapter
  exercise example item attempt attempts try tries trial trials guess guesses error errors code confidence hint objection objections
  token tokens version reason reasons paragraph sentence bound bounds estimate upper lower`);
const ANSWER =
  /^(?:answers?|ans|solution|result|final|option|choice|antwort|lösung|réponse|respuesta|risposta|resposta|ответ)$/;
/** Sentences of other languages that name an answer, read as an English one. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/(?:因此|所以|因而|于是|从而|综上(?:所述)?|最终|最后|那么|由此|可知|可得|故(?=选|答|应|此)|^故)\s*[,，]?/g, ' so '],
  [/(?:正确|最终)?(?:答案|结果|选项)\s*(?:应该|应当|应|就)?(?:是|为|等于|选)?\s*(?:选项)?/g, ' answer is '],
  [/(?:故|应|本题|因此)?选择?(?:选项)?(?![一-鿿])/g, ' answer is '],
  [/(?:等于|就是|得到|得出|[是为得有共])(?=\s*(?:$|[\s:：$\\\d⟦-]))/g, ' is '],
  [/(?<!\p{L})(?:правильный |верный |окончательный )?ответ\s*[—–-]\s*/giu, ' the answer is '],
  [/\b(?:die |das |eine )?(?:end|gesamt)?(?:antwort|lösung|ergebnis) (?:ist|lautet|beträgt)\b/gi, ' the answer is '],
  [/\bes gibt(?: genau| insgesamt)?(?=\s*(?:$|[\d$⟦]))/gi, ' there are '],
  [/\b(?:la |le )?(?:réponse|solution|résultat)(?: finale?)? est\b/gi, ' the answer is '],
  [/\b(?:la |el )?(?:respuesta|solución|resultado)(?: final)? es\b/gi, ' the answer is '],
  [/\b(?:la |il |a |o )?(?:risposta|resposta|soluzione|risultato)(?: finale?)? (?:è|é)(?!\p{L})/giu, ' the answer is '],
  [/\b(?:ist|lautet|beträgt) (?:die |das )?(?:end|gesamt)?(?:antwort|lösung|ergebnis)\b/gi, ' the answer is '],
  [/(?:よって|したがって|ゆえに|だから|以上より|なので)[、,]?/g, ' so '],
  [/(?:答え|解|正解)は[、,]?|(?:答え|正解):/g, ' the answer is '],
  [/(?:です|である|となる|になる|だ)(?=\s*(?:$|[。.!]))/g, ' '],
  [/(?<![\p{L}])(?:ответ|итак|следовательно)(?![\p{L}])/giu, ' answer '],
  [/\b(?:antwort|réponse|respuesta|risposta|resposta|lösung|ergebnis|resultado)(?=\s*[:：])/gi, ' answer '],
  [/\b(?:also|daher|somit|donc|ainsi|por (?:lo )?tanto|entonces|quindi|portanto|logo)\b/gi, ' so '],
];

export function inEnglish(text: string): string {
  if (
    !/[^\x00-\x7F]|\b[a-z]+(?:wort|ndo|nis|sta|tado|rno|anto)\b|donc|ainsi|daher|somit|entonces|lösung|risposta|es gibt/i.test(
      text,
    )
  )
    return text;
  let out = text.replace(/：/g, ':').replace(/，/g, ', ');
  for (const [form, english] of FOREIGN) out = out.replace(form, english);
  return out;
}

const PREPOSITIONS =
  words(`of in on at for from to with by per between among that which who whom whose such where when after before over into through upon
  during under around satisfying has have had containing without`);
export const opensZone = (word: string): boolean => PREPOSITIONS.has(word);
const DETERMINERS = words(
  'el la le les los las das die der den dem des ein eine un une il lo the a an this that its our his her their my each every these those some any all one',
);
export const isDeterminer = (word: string): boolean => DETERMINERS.has(word);
const VERB_FORMS: ReadonlySet<string> = new Set([...VERBS].map(lemma));
/** A verb in any of its forms: `lemma` of the word. */
export const isVerb = (word: string): boolean => VERB_FORMS.has(word);
export const isLink = (word: string): boolean => LINK_WORDS.has(word) || VERBS.has(word);
/** A verb may have somebody or something between it and the value: "costs him 20". */
export const isAction = (word: string): boolean => VERBS.has(word);
export const isDenying = (word: string): boolean => DENYING.has(word) || /n[’']t$/.test(word);
/** Of the words that deny or doubt, those that also describe a thing do so only with others. */
export const isDoubting = (word: string): boolean =>
  (isDenying(word) && !DESCRIBING.has(word)) || DOUBTING.test(word) || (HAN.test(word) && !isForeignNoun(word));
const HAN = /^\p{Script=Han}/u;
const DESCRIBING = words('different likely approach approaches example without may');
const DOUBTING =
  /^(?:[≠<>≤≥]|mis(?!s)\p{L}{3,}|un(?:able|clear|sure|certain|defined|likely|true|convinced|justified|fortunately)|(?:over|under)(?:count|estimat|stat|shoot)\p{L}*|dis(?:agree|believ|qualif)\p{L}*|rul(?:ed?|ing)|short|whereas|refus\p{L}*|declin(?:e|es|ed|ing)|rather|say|told|put|blunder|upper|bounds?|estimates?|somebody|someone|anybody|everybody|imposters?|forged|herring|scribbl\p{L}*|corrections?)$/u;
export const isMeta = (word: string): boolean => META.has(word);
export const namesAnswer = (word: string): boolean => ANSWER.test(word);
export const isLead = (word: string): boolean => LEAD.has(word);

/** Chinese has no blanks: a run without a sign of denial, doubt or choice names a thing. */
export const isForeignNoun = (word: string): boolean =>
  /^[\p{Script=Han}]+$/u.test(word) && !/[不没非错否未无勿别莫假误或若除倍]|[第负约近超于每至多少]$/.test(word);

/** Words that the question or the solution holds, or that any statement may hold. */
export const isCommon = (word: string, known: (word: string) => boolean): boolean =>
  /^(?:[a-zα-ω]|[\d.,]+)$/u.test(word) ||
  isForeignNoun(word) ||
  COMMON.has(word) ||
  VERBS.has(word) ||
  LEAD.has(word) ||
  isHarmless(word) ||
  isUnitWord(word) ||
  known(word);

/** Work that is still to be done to a value makes it another one. */
export const WORK =
  /^[\s,]*(?:so|and|then|now|next|finally|it remains|what remains|all that remains|(?:so |and |then |now |next |finally )?,?\s?we (?:still|now|then|next|must|have to|need to))\b,?(?: [\p{L}]+){0,4},? (?:add|subtract|multiply|divide|square|double|halve|triple|remove|deduct|discard)\b/iu;
/** Another problem than the one that was asked, or a part of it: unless the question says so too. */
export const SUPPOSED =
  /\b(leaving|setting)\b[^,]{0,60}\b(?:out|aside)\b|^\W*(?:so |then |but )?(were|had|without|ignoring|neglecting|disregarding|forgetting|dropping|relaxing|unless|pretending)\b|\b(?:so|thus) (far)\b(?! as)|\b(for now|as yet|up to now|unfinished|intermediate|partial)\b|(如果|假如|假设|倘若|若|忽略|不考虑)/i;
/** A clause that compares a value with a bound and finds that it does not fit. */
export const UNFIT =
  /^[\s,]*(?:which is|matching|confirming|agreeing|consistent)\b.*\b(?:impossible|contradict\w*|violat\w*|not allowed|too (?:large|small|big|many|few)|other)\b/isu;
/** A number in words, as a noun's count. */
export const NUMBER_WORD =
  /^(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand)$/;
/** Nouns that may stand between the verb and the value. */
export const QUANTITY =
  /^(?:total|value|answer|result|amount|profit|cost|price|distance|length|speed|area|volume|salary|income|revenue|height|weight|age|score|tip|discount|balance|average|width|radius|perimeter)$/;
