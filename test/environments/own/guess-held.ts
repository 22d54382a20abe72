// The guessing game with state `held`.

import { guess } from './guess.ts';

export const environment = guess('held', 600);
