# Codex with its shell. ENVIRONMENT_PACKAGES names the folder of its package.
export CODEX_HOME="$PWD/.codex"
mkdir "$CODEX_HOME"
cat >"$CODEX_HOME/config.toml" <<END
model = "$OPENAI_MODEL"
model_provider = "everturn"
[model_providers.everturn]
name = "everturn"
base_url = "$OPENAI_BASE_URL"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
END
exec "$ENVIRONMENT_PACKAGES/node_modules/.bin/codex" exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox \
  "Add 3 and 3."
