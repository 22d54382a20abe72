#!/bin/sh
read -r answer < /app/answer.txt
if [ "$answer" = 7 ]; then right=1; else right=0; fi
if [ -f /app/answer.txt ]; then there=1; else there=0; fi
echo "{\"reward\": $right, \"file\": $there}" > /logs/verifier/reward.json
