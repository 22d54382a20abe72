// The words of mathematical writing: which command means what. Tables only.

/** Words of a text, and pairs `name:value`. */
export const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter(Boolean));
export const wordMap = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split(/\s+/)
      .filter(Boolean)
      .map((pair): [string, string] => [pair.slice(0, pair.indexOf(':')), pair.slice(pair.indexOf(':') + 1)]),
  );

/** Commands that change only how a thing looks. */
export const IGNORED =
  wordSet(`, ! ; : > quad qquad left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr
  middle displaystyle textstyle scriptstyle limits nolimits nonumber notag hfill hspace vspace thinspace
  medspace thickspace enspace allowbreak nobreak strut hline noindent smallskip medskip bigskip break newline
  mathstrut large Large LARGE huge Huge small footnotesize normalsize tiny phantom hphantom vphantom label tag centering rm bf it cr checkmark therefore`);

/** Commands whose braced argument is the thing itself: fonts, boxes, colours. */
export const TRANSPARENT =
  wordSet(`boxed fbox mathit mathsf mathcal mathfrak mathscr ensuremath displaylimits phantomsection
  textcolor mathop mathrm operatorname color mathnormal`);

/** Bold letters are the letters, but products of them keep their order. */
export const BOLD = wordSet('mathbf boldsymbol bm pmb');

/** Signs over, under or around a letter make it another letter; two spellings of one sign share a name. */
export const DECORATIONS =
  wordMap(`vec:vec hat:hat tilde:tilde dot:dot ddot:ddot dddot:dddot breve:breve check:check acute:acute
  grave:grave mathring:mathring
  overarc:arc arc:arc widehat:hat widetilde:tilde overrightarrow:vec`);

export const TEXT_COMMANDS = wordSet(`text mbox textbf textit textnormal textrm textsf texttt hbox emph textup textmd
  mathrm operatorname mathbf mathit mathsf mathtt bf rm boldsymbol`);

export const FUNCTIONS =
  wordSet(`sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh coth arsinh arcosh artanh
  ln log lg exp sqrt cbrt abs gcd lcm max min det floor ceil sgn sign arg re im mod tg ctg arctg asin acos atan tr rank
  deg dim cis`);

export const FUNCTION_NAMES = wordMap(
  `tg:tan ctg:cot arctg:arctan asin:arcsin acos:arccos atan:arctan lg:log10 sign:sgn Re:re Im:im`,
);

export const GREEK =
  wordSet(`alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho
  varrho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar
  aleph nabla partial imath jmath angle`);

/** Letters that name functions when a bracket follows them. */
export const FUNCTION_LETTERS = wordSet('f g h F G H phi psi Phi Psi varphi Gamma Var Cov Corr');

export const RELATIONS =
  wordMap(`=:= <:< >:> le:<= leq:<= leqslant:<= leqq:<= ge:>= geq:>= geqslant:>= geqq:>= lt:< gt:> ne:!= neq:!= approx:~
  approxeq:~ thickapprox:~ simeq:~ cong:~ doteq:= coloneqq:= equiv:==mod in:in notin:notin subset:subset
  subseteq:subset`);

export const NAMED_SETS = wordSet('R Z N Q C');

/** Operators with bounds and a body. */
export const BIG = wordSet('sum prod int iint oint lim');

const ENDS =
  wordSet(`rangle rfloor rceil rbrace rvert rVert rbrack rparen mid vert to rightarrow circ prime degree pm mp cdot times ast cdotp div
  slash bmod mod pmod pod cup cap bigcup bigcap setminus backslash smallsetminus land wedge And lor vee colon implies Rightarrow
  Longrightarrow iff Leftrightarrow not over choose atop end`);

/** Can this command begin a value? */
export const startsCommand = (name: string): boolean =>
  !RELATIONS.has(name) && !ENDS.has(name) && (/^[A-Za-z]{2,}$/.test(name) || name === '{' || NAMED_SETS.has(name));

export const isMatrix = (environment: string): boolean =>
  /^[pbBvV]?(small)?matrix$|^array$|^tabular$/.test(environment);
