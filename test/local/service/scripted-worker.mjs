// A worker that keeps the supervisor's contract and does nothing else.
// argv: folder of the compiled room machine/, mode (`works` | `crashes` | `hangs`: deaf to its parent's end).
const [room, mode] = process.argv.slice(2);
const { endWithParent, tellReady } = await import(`${room}/parent.js`);

console.log(`worker of ${process.env.TEMPORAL_ADDRESS}, api key ${process.env.TEMPORAL_API_KEY}`);
if (mode === 'crashes') throw new Error('the model folder is gone');
setInterval(() => undefined, 1000);
process.on('SIGTERM', () => process.exit(0));
if (mode === 'works') endWithParent(() => process.exit(0));
tellReady();
