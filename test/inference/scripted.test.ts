import { backendContract } from '../contract/backend.ts';
import { scriptedBackend } from '../support/scripted-model.ts';

backendContract('scripted', {
  open: async () => scriptedBackend({ answer: () => 'I think it is 4.' }),
  question: 'What is 2 + 2?',
  checksRequests: false,
  takesTime: false,
});
