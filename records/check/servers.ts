// The servers that a run's model names, as far as a record can be held against them.

/** The urls of a model that servers have; null where it runs in the worker. */
export function serversOf(model: string): readonly string[] | null {
  const [, scheme, target = ''] = /^(sglang|vllm|openai):(.*)$/s.exec(model) ?? [];
  return scheme === undefined ? null : target.split('#', 1)[0]!.split(',');
}

export function originOf(url: string): string {
  return URL.canParse(url.trim()) ? new URL(url.trim()).origin : url.trim();
}

/** A run names its servers: every answer comes from one of them. */
export function* serverProblem(model: string, server: string | null): Generator<string> {
  const servers = serversOf(model);
  const isNamed =
    servers === null || server === null ? servers === server : servers.map(originOf).includes(originOf(server));
  if (!isNamed) yield `says ${server === null ? 'no server' : `the server ${server}`}, which is none of ${model}`;
}

/** The name that every answer of this model has; null where only its server or its folder says it. */
export function namedModel(model: string): string | null {
  if (model === 'tiny') return 'tiny';
  const [, name] = /^openai:[^#]*#(.+)$/s.exec(model) ?? [];
  return name ?? null;
}
