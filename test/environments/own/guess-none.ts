// The guessing game with state `none`.

import { guess } from './guess.ts';

export const environment = guess('none');
