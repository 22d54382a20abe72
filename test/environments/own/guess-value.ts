// The guessing game with state `value`.

import { guess } from './guess.ts';

export const environment = guess('value');
