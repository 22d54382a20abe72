// What is set in the environment of this process for a while: some settings are read there, whoever asks.

/** Sets these; returns what takes them back. */
export function useEnvironment(environment: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, environment);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
