import { backendContract, textBackendContract } from '../contract/backend.ts';
import { scriptedBackend, scriptedTextBackend } from '../support/scripted-model.ts';

backendContract('scripted', {
  open: async () => scriptedBackend({ answer: () => 'I think it is 4.' }),
  question: 'What is 2 + 2?',
  checksRequests: false,
  takesTime: false,
});

textBackendContract('scripted text', {
  open: async () => scriptedTextBackend(() => 'I think it is 4.'),
  question: 'What is 2 + 2?',
  checksRequests: false,
  takesTime: false,
});
