# Claude Code as it is (`npm install -g @anthropic-ai/claude-code`), with its shell; it asks no other address than Everturn's.
#
#   everturn run tasks.jsonl --agent "sh examples/agents/claude.sh" --model vllm:http://gpu:8000

export CLAUDE_CONFIG_DIR="$PWD/.claude" CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
question=$(node -p 'JSON.parse(fs.readFileSync(process.env.EVERTURN_ROW)).question')
exec claude -p "$question" --tools Bash --allowedTools Bash
