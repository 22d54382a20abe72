// Text that takes over a terminal that prints it: titles, clipboards, links, cursors, colours, direction. Seeded by
// nothing: the same texts every time, as many as are asked for.

const ESC = '\u001b';
export const SEEDS = [
  `${ESC}]52;c;cm0gLXJmIC8=\u0007`,
  `${ESC}]8;;file:///etc/passwd${ESC}\\here${ESC}]8;;${ESC}\\`,
  `${ESC}]0;owned\u0007`,
  `${ESC}]1337;File=inline=1:AAAA\u0007`,
  `${ESC}Ptmux;${ESC}${ESC}]52;c;!${ESC}\\`,
  `${ESC}P$qm${ESC}\\`,
  `${ESC}_Ga=T,f=100;AAAA${ESC}\\`,
  `${ESC}^private${ESC}\\`,
  `${ESC}c`,
  `${ESC}[2J${ESC}[H`,
  `${ESC}[?1049h`,
  `${ESC}[?1000h${ESC}[?25l`,
  `${ESC}[6n${ESC}[c${ESC}[>0q`,
  `${ESC}[20t${ESC}[21t`,
  `${ESC}[31;1;5;8m`,
  `${ESC}[1A${ESC}[2K`,
  `${ESC}#8`,
  `${ESC}(0lqqk${ESC}(B`,
  '\u009b2J\u009b31m',
  '\u009d52;c;AAAA\u009c',
  '\u0090q\u009c',
  '\u008d\u0085\u008e\u008f',
  'safe\rEVIL',
  'password\b\b\b\b\b\b\b\bnothing!',
  '\u0007\u0007\u0007',
  '\u000b\u000c\u000e\u000f',
  '\u0000\u0001\u0002\u0003\u0004',
  '\u007f\u007f',
  '\u0018\u001a\u001c\u001d\u001e\u001f',
  '\u202egnp.exe\u202c',
  '\u2066\u2067\u2068\u2069',
  '\u200e\u200f\u061c',
  '\u2028\u2029',
  '\u202a\u202b\u202d',
];

export function payloads(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const one = SEEDS[i % SEEDS.length]!;
    const other = SEEDS[(i * 7 + Math.floor(i / SEEDS.length)) % SEEDS.length]!;
    return i < SEEDS.length ? one : `${one}${'x'.repeat(i % 5)}${other}${i}`;
  });
}

// Everything that could steer a terminal, newlines and tabs aside.
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const OUR_COLOURS = /\u001b\[(?:\d{1,2}(?:;\d{1,2})*)?m/g;

/** The first lines in which something could steer the terminal. */
export function steering(text: string, coloured = false): string[] {
  return (coloured ? text.replace(OUR_COLOURS, '') : text)
    .split('\n')
    .filter((line) => STEERING.test(line))
    .map((line) => JSON.stringify(line.slice(0, 300)))
    .slice(0, 3);
}
