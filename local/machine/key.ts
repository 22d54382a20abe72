// A key for a server, in an environment variable that the user names: read where it is sent, never printed or stored.

/** `refuse` throws the caller's error for a key that is absent or that no header can hold. */
export function readKey(
  name: string,
  refuse: (what: string, fix: string) => never,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const key = env[name]?.trim();
  if (!key)
    return refuse(
      `The environment variable ${name} is empty`,
      'Put the API key there, for every worker: a local service has it after `everturn down`.',
    );
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  return refuse(`The value of ${name} cannot be a key`, 'A key is printable ASCII, no spaces.');
}
