// Loaded before the judge's real child: some answers and solutions do to it what a bug of the judge would.

const parse = JSON.parse;
const DOES = {
  HANG: () => {
    for (;;);
  },
  HEAP: () => {
    for (const kept = []; ;) kept.push(Array.from({ length: 1000 }, () => kept.length));
  },
  STACK: () => {
    const deeper = (n) => deeper(n + 1) + 1;
    return deeper(0);
  },
  ABORT: () => process.abort(),
};
JSON.parse = (text) => {
  const job = parse(text);
  for (const said of [job.answer, job.examine, ...(job.solutions ?? [])])
    if (Object.hasOwn(DOES, String(said))) DOES[said]();
  return job;
};
