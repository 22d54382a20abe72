# Codex as it is (`npm install -g @openai/codex`), with its shell. A random id stands in each result of its tools: killed, it
# goes on from the first of them.
#
#   everturn run tasks.jsonl --agent "sh examples/agents/codex.sh" --model vllm:http://gpu:8000

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
question=$(node -p 'JSON.parse(fs.readFileSync(process.env.EVERTURN_ROW)).question')
exec codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox "$question"
