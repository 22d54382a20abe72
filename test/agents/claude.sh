# Claude Code with its shell, and nothing that leaves this machine. ENVIRONMENT_PACKAGES names the folder of its package.
export CLAUDE_CONFIG_DIR="$PWD/.claude" CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
exec "$ENVIRONMENT_PACKAGES/node_modules/.bin/claude" -p "Add 3 and 3." --tools Bash --allowedTools Bash
