// The guessing game with state `replay`.

import { guess } from './guess.ts';

export const environment = guess('replay');
