// The names of unfinished files: no reader opens one, and a killed writer may leave one behind. Pure.

export const temporaryName = (name: string, unique: string): string => `.${name}.${unique}.tmp`;
export const isTemporary = (name: string): boolean => /^\..+\.tmp$/.test(name);
