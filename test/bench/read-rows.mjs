// Reads the rows of a run as a program does, and tells when the first one came, when the last, and its largest memory.
//   node test/bench/read-rows.mjs CHECKOUT FOLDER

const [checkout, folder] = process.argv.slice(2);
const { openRun } = await import(`${checkout}/dist/library/index.js`);
const began = performance.now();
const seconds = () => Math.round(performance.now() - began) / 1000;
let [rows, first] = [0, 0];
for await (const _ of (await openRun(folder)).rows()) if (++rows === 1) first = seconds();
const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
const cpu = Math.round((userCPUTime + systemCPUTime) / 1000) / 1000;
console.log(JSON.stringify({ rows, first, all: seconds(), cpu, peakMb: Math.round(maxRSS / 1024) }));
